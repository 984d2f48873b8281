const TURNING = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Text with the characters shown that would turn its order around. Newlines stay, tabs become spaces. */
export const visibleProse = (text: string): string =>
  text.replace(TURNING, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`).replaceAll("\t", "    ");
