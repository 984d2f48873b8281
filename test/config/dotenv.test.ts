import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { describe, expect, test } from "vitest";
import { parseDotenv, parseDotenvLine, readDotenv } from "../../src/config/dotenv.ts";
import { tempDir } from "../helpers/temp-dir.ts";

describe("a line of a .env file", () => {
  test.each([
    ["KEY=VALUE", ["KEY", "VALUE"]],
    ['KEY="quoted"', ["KEY", "quoted"]],
    ["KEY='single quoted'", ["KEY", "single quoted"]],
    ["NO_VALUE=", ["NO_VALUE", ""]],
    ['EMPTY=""', ["EMPTY", ""]],
    ["  SPACED  =  value  ", ["SPACED", "value"]],
    ["KEY=noquotes\r", ["KEY", "noquotes"]],
    ["\tKEY\t=\tvalue\t", ["KEY", "value"]],
    [`KEY="mismatch'`, ["KEY", `"mismatch'`]],
    [`KEY='mismatch"`, ["KEY", `'mismatch"`]],
    ['KEY="', ["KEY", '"']],
    [`KEY=""twice""`, ["KEY", '"twice"']],
    [`KEY='"nested"'`, ["KEY", '"nested"']],
    ['KEY=" kept "', ["KEY", " kept "]],
    ["KEY=a=b=c", ["KEY", "a=b=c"]],
    ["KEY=value # no comment", ["KEY", "value # no comment"]],
    ["KEY=$HOME/$X", ["KEY", "$HOME/$X"]],
    ['KEY="a\\nb"', ["KEY", "a\\nb"]],
    ["export KEY=value", ["export KEY", "value"]],
    ["\uFEFFKEY=value", ["KEY", "value"]],
    ["#COMMENT", null],
    ["  # KEY=value", null],
    ["NOEQUALS", null],
    ["=NOKEY", null],
    ["  = value", null],
    ["", null],
    ["   ", null],
  ])("%j", (line, expected) => {
    expect(parseDotenvLine(line)).toEqual(expected && { name: expected[0], value: expected[1] });
  });
});

describe("a .env file", () => {
  test("gives each variable with its line; the first value that is not empty wins", () => {
    expect(parseDotenv("# keys\nA=\nB=1\r\n\nA=2\nB=3\n")).toEqual(
      new Map([
        ["A", { value: "2", line: 5 }],
        ["B", { value: "1", line: 3 }],
      ]),
    );
  });

  test("that is missing has no variables", async () => {
    expect(await readDotenv(join(tempDir(), "none", ".env"))).toEqual(new Map());
  });

  test("that is a folder or a FIFO has no variables and does not hold the start", async () => {
    const dir = tempDir();
    mkdirSync(join(dir, "folder"));
    await execa("mkfifo", [join(dir, "fifo")]);
    expect(await readDotenv(join(dir, "folder"))).toEqual(new Map());
    expect(await readDotenv(join(dir, "fifo"))).toEqual(new Map());
  });

  test("never reaches process.env", async () => {
    const file = join(tempDir(), ".env");
    writeFileSync(file, "HARNESS9_DOTENV_TEST=1\n");
    expect((await readDotenv(file)).get("HARNESS9_DOTENV_TEST")).toEqual({ value: "1", line: 1 });
    expect(process.env["HARNESS9_DOTENV_TEST"]).toBeUndefined();
  });
});
