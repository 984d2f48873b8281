/** One word of a question: it is found as it is, or in its parts. */
export type Word = {
  /** As it was written; null for text of a script without spaces, which is found by its pairs of characters. */
  readonly whole: string | null;
  /** The parts of a name such as `safePath` or `src/a.ts`, or the pairs; empty for a plain word. */
  readonly parts: readonly string[];
};

// Scripts whose words are not parted by spaces, or not as other languages would ask for them.
const UNSPACED =
  "\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Hangul}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}ー";
const RUNS = new RegExp(`(?<unspaced>[${UNSPACED}]+)|(?:(?![${UNSPACED}])[\\p{L}\\p{N}\\p{M}_./\\\\:@#+-])+`, "gu");

/** The words of a question that say something; all of them where none does. */
export const questionWords = (question: string): readonly Word[] => {
  const words = uniqueWords(
    runsOf(question).flatMap((run) => (run.isUnspaced ? unspacedWords(run.text) : spacedWords(run.text))),
  );
  const telling = words.filter((word) => !STOP_WORDS.has(word.whole ?? word.parts.join("")));
  return telling.length > 0 ? telling : words;
};

/** All that an entry can be found by. */
export const searchTerms = (text: string): readonly string[] =>
  runsOf(text).flatMap((run) =>
    run.isUnspaced
      ? [...pairs(run.text), ...characters(run.text)]
      : spacedWords(run.text).flatMap(({ whole, parts }) => [...(whole === null ? [] : [whole]), ...parts]),
  );

type Run = { readonly text: string; readonly isUnspaced: boolean };

const runsOf = (text: string): readonly Run[] =>
  [...text.normalize("NFKC").matchAll(RUNS)].map(({ 0: run, groups }) => ({
    text: run,
    isUnspaced: groups?.["unspaced"] !== undefined,
  }));

const unspacedWords = (run: string): readonly Word[] => {
  const segmenter = new Intl.Segmenter("zh", { granularity: "word" });
  return slices(run).flatMap((slice) =>
    [...segmenter.segment(slice)].map(({ segment }) => ({
      whole: null,
      parts: characters(segment).length > 1 ? pairs(segment) : [segment],
    })),
  );
};

/** A segmenter's time grows with the square of the text. */
const SLICE_CHARACTERS = 256;

const slices = (run: string): readonly string[] => run.match(new RegExp(`.{1,${SLICE_CHARACTERS}}`, "gsu")) ?? [];

const spacedWords = (run: string): readonly Word[] => {
  const start = run.search(/[\p{L}\p{N}#@]/u);
  // Greedy from the start on: to look for what ends the text takes time squared.
  const [name = ""] = start < 0 ? [] : (/^.*[\p{L}\p{N}#+]/su.exec(run.slice(start)) ?? []);
  const parts = name
    .split(/[^\p{L}\p{N}\p{M}]+/u)
    .flatMap((part) => part.split(/(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u))
    .filter((part) => part !== "")
    .map((part) => singular(part.toLowerCase()));
  const whole = singular(name.toLowerCase());
  if (whole === "") return [];
  return [{ whole, parts: parts.length === 1 && parts[0] === whole ? [] : parts }];
};

/** English plurals only: `tests` is found as `test`, `queries` as `query`. */
const singular = (word: string): string => {
  if (!/^[a-z]{4,}$/.test(word)) return word;
  if (/[^aeiou]ies$/.test(word)) return `${word.slice(0, -3)}y`;
  if (/(?:ch|sh|ss|x|z)es$/.test(word)) return word.slice(0, -2);
  return /[^siu]s$/.test(word) ? word.slice(0, -1) : word;
};

const characters = (text: string): readonly string[] => [...text];

const pairs = (text: string): readonly string[] => {
  const all = characters(text);
  return all.slice(1).map((character, index) => `${all[index]}${character}`);
};

const uniqueWords = (words: readonly Word[]): readonly Word[] => [
  ...new Map(words.map((word) => [JSON.stringify(word), word])).values(),
];

/** Words that questions are made of and that say nothing of what is asked about; those of unspaced scripts by their pairs. */
const STOP_WORDS: ReadonlySet<string> = new Set([
  ..."a an and are as at be by can could did do doe does for from had has have how i if in into is it its me my not of".split(
    " ",
  ),
  ..."on or our please should so that the their them there they this to us use used using was we were what when where".split(
    " ",
  ),
  ..."which who why will with would you your about any some s t".split(" "),
  ..."的 了 是 在 和 与 及 或 吗 呢 吧 啊 我 你 您 他 她 它 们 这 那 就 也 都 很 有 要 会 能 请 把 被 给 从 到 对 用 为 什 么 个".split(
    " ",
  ),
  ..."怎么 如何 什么 为何 哪里 哪些 哪个 我们 你们 他们 它们 这个 那个 这里 那里 可以 需要 应该 关于 一下 是否 怎样 多少 使用".split(
    " ",
  ),
  ..."为什什么 怎么么样".split(" "),
  ..."の は が を に へ で と も や か ね よ です ます する した して ある いる から まで この その どう".split(" "),
]);
