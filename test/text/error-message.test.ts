import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { errorCode, errorMessage, systemMessage } from "../../src/text/error-message.ts";

const caught = (action: () => unknown): unknown => {
  try {
    return action();
  } catch (error) {
    return error;
  }
};

test("the system's error is told in its own words, without node's code and call", () => {
  const error = caught(() => readFileSync("/no/such file's name"));
  expect([errorCode(error), systemMessage(error)]).toEqual(["ENOENT", "no such file or directory"]);
});

test.each([
  [new Error("broken"), "broken", undefined],
  ["just text", "just text", undefined],
  [undefined, "undefined", undefined],
  [{ code: "ENOENT" }, "[object Object]", undefined],
  [Object.assign(new Error("odd"), { code: 7 }), "odd", undefined],
  [Object.assign(new Error("full"), { code: "ENOSPC" }), "full", "ENOSPC"],
])("%j says %j", (error, message, code) => {
  expect([errorMessage(error), errorCode(error)]).toEqual([message, code]);
});
