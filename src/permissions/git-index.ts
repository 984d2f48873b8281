const HEADER_BYTES = 12;
/** Times, device, inode, mode, owner, size. */
const STAT_BYTES = 40;
const MODE_OFFSET = 24;
const SHA1_BYTES = 20;
const GITLINK = 0o160000;
const EXTENDED = 0x4000;
/** The name's length in the flags; the largest stands for that and more. */
const LENGTH = 0x0fff;

/**
 * Whether git's index is known to hold no other repository: git looks into those with their own configuration.
 * False also for what is not read here: a split index, another version or hash.
 */
export const holdsNoRepository = (index: Buffer): boolean => {
  if (index.length < HEADER_BYTES + SHA1_BYTES || index.toString("latin1", 0, 4) !== "DIRC") return false;
  const version = index.readUInt32BE(4);
  if (version !== 2 && version !== 3) return false;
  const end = index.length - SHA1_BYTES;
  let offset = HEADER_BYTES;
  for (let left = index.readUInt32BE(8); left > 0; left -= 1) {
    const flagsAt = offset + STAT_BYTES + SHA1_BYTES;
    if (flagsAt + 2 > end) return false;
    if ((index.readUInt32BE(offset + MODE_OFFSET) & 0o170000) === GITLINK) return false;
    const flags = index.readUInt16BE(flagsAt);
    const nameAt = flagsAt + ((flags & EXTENDED) === 0 ? 2 : 4);
    const nameEnd = index.indexOf(0, nameAt);
    if (nameEnd < 0 || nameEnd >= end) return false;
    // Git goes by the flags.
    if ((flags & LENGTH) !== Math.min(nameEnd - nameAt, LENGTH)) return false;
    // At least one NUL, up to a multiple of eight.
    offset += (nameEnd - offset + 8) & ~7;
  }
  return extensionsAreKnown(index, offset, end);
};

/** What lies behind the entries: nothing that says where other entries are, as `link`, `IEOT` and `EOIE` do. */
const extensionsAreKnown = (index: Buffer, start: number, end: number): boolean => {
  let offset = start;
  while (offset + 8 <= end) {
    if (!/^(TREE|REUC|UNTR)$/.test(index.toString("latin1", offset, offset + 4))) return false;
    offset += 8 + index.readUInt32BE(offset + 4);
  }
  return offset === end;
};
