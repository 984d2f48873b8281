import { expect, test } from "vitest";
import { withNullDevice } from "../../../src/tools/shell/null-device.ts";

test.each([
  ["echo x > nul", "echo x > /dev/null"],
  ["echo x >nul", "echo x >/dev/null"],
  ["cmd > NUL 2>&1", "cmd > /dev/null 2>&1"],
  ["cmd 2>nul", "cmd 2>/dev/null"],
  ["cmd 2>> nul; next", "cmd 2>> /dev/null; next"],
  ["cmd &>nul && next", "cmd &>/dev/null && next"],
  ["(cmd >nul)", "(cmd >/dev/null)"],
  ["cmd <nul|next", "cmd </dev/null|next"],
  ["cmd >nul\nnext", "cmd >/dev/null\nnext"],
  ["cmd > nul.txt", "cmd > nul.txt"],
  ["cmd > null", "cmd > null"],
  ["cmd > ./nul", "cmd > ./nul"],
  ["echo nul", "echo nul"],
])("on Windows %j becomes %j, elsewhere it stays", (command, expected) => {
  expect(withNullDevice(command, "win32")).toBe(expected);
  expect(withNullDevice(command, "linux")).toBe(command);
});
