/** A skill that a person may call up. Name and description are others' texts. */
export type ListedSkill = {
  readonly name: string;
  readonly description: string;
  readonly origin: "user" | "project";
  /** Its file as people write it. */
  readonly shown: string;
};

/** What the chat may see of the skills. */
export type ChatSkills = {
  readonly list: () => readonly ListedSkill[];
  /** What was found and does not count. */
  readonly skipped: () => readonly { readonly shown: string; readonly reason: string }[];
  /** What to send for `/name words`; the words come after the skill's text. @throws Error with a sentence */
  readonly message: (name: string, words: string) => string;
};
