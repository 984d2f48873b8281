import type { Strings } from "../text/strings.ts";

/** How a hit was found. The numbers are those that `matchTypeLabel` names. */
export const MATCH_TYPE = { embedding: 0, keywords: 1 } as const;

/** A score in words: high from 0.8, medium from 0.6, low from 0.4, else weak, as also what is no number is. */
export const relevanceLevel = (score: number, strings: Strings["memory"]): string => {
  const { relevance } = strings;
  if (score >= 0.8) return relevance.high;
  if (score >= 0.6) return relevance.medium;
  return score >= 0.4 ? relevance.low : relevance.weak;
};

/** How a hit was found, in words; a type that nobody knows with its number. */
export const matchTypeLabel = (type: number, strings: Strings["memory"]): string => {
  switch (type) {
    case MATCH_TYPE.embedding:
      return strings.matchTypes.embedding;
    case MATCH_TYPE.keywords:
      return strings.matchTypes.keywords;
    default:
      return strings.unknownMatchType(type);
  }
};
