/**
 * Whether a pattern with `*` and `?` matches the whole text; neither crosses a `/`.
 * Linear in time: patterns come from models, and a regular expression of many stars would not be.
 */
export const segmentMatches = (pattern: string, text: string): boolean => {
  let p = 0;
  let t = 0;
  let star = -1;
  let mark = 0;
  while (t < text.length) {
    if (pattern[p] === "*") {
      star = p++;
      mark = t;
    } else if (p < pattern.length && (pattern[p] === "?" || pattern[p] === text[t])) {
      p += 1;
      t += 1;
    } else if (star >= 0) {
      p = star + 1;
      t = ++mark;
    } else {
      return false;
    }
  }
  while (pattern[p] === "*") p += 1;
  return p === pattern.length;
};

/** Whether a path pattern matches a path, segment by segment; `**` stands for any number of segments, none included. */
export const pathMatches = (pattern: string, path: string): boolean => {
  const patterns = pattern.split("/");
  const segments = path.split("/");
  // reachable[j]: the patterns so far match the first j segments.
  let reachable = segments.map((_, index) => index === 0).concat(false);
  for (const one of patterns) {
    const next = reachable.map(() => false);
    if (one === "**") {
      const first = reachable.indexOf(true);
      if (first >= 0) next.fill(true, first);
    } else {
      segments.forEach((segment, index) => {
        if (reachable[index] && segmentMatches(one, segment)) next[index + 1] = true;
      });
    }
    reachable = next;
  }
  return reachable[segments.length] === true;
};

/** A shell's glob as a pattern of `*` and `?` that matches at least as much. */
export const widenGlob = (glob: string): string => glob.replace(/\[\]?[^\]]*\]/g, "?");
