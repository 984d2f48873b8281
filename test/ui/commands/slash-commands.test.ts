import { expect, test } from "vitest";
import { en } from "../../../src/text/en.ts";
import { zh } from "../../../src/text/zh.ts";
import {
  describeCommands,
  findCommand,
  nearCommands,
  parseCommand,
  SLASH_COMMANDS,
  unknownCommand,
  withoutKey,
} from "../../../src/ui/commands/slash-commands.ts";

test.each([
  ["/help", { name: "help", argument: "" }],
  ["/help \n", { name: "help", argument: "" }],
  ["/model  gpt 5 ", { name: "model", argument: "gpt 5" }],
  ["/model\tgpt", { name: "model", argument: "gpt" }],
  ["/compact keep\nthe plan", { name: "compact", argument: "keep\nthe plan" }],
  ["/mcp:server:prompt-2 x", { name: "mcp:server:prompt-2", argument: "x" }],
  ["/?", { name: "?", argument: "" }],
  ["/Help", { name: "Help", argument: "" }],
])("%j is a command", (text, command) => {
  expect(parseCommand(text)).toEqual(command);
});

test.each([
  "",
  "/",
  "//",
  "/ foo",
  " /help",
  "help",
  "/usr/bin/x",
  "/usr/bin/x --flag",
  "/etc.d",
  "/foo_bar",
  "/-",
  "/:",
  "/??",
  "/你好",
  "/help\nand more",
  "see\n/help",
])("%j is ordinary text", (text) => {
  expect(parseCommand(text)).toBeUndefined();
});

test.each([
  ["quit", "quit"],
  ["exit", "quit"],
  ["EXIT", "quit"],
  ["?", "help"],
  ["new", "clear"],
  ["mcp", undefined],
  ["constructor", undefined],
])("the command of %j is %j", (name, found) => {
  expect(findCommand(name)?.name).toBe(found);
});

test.each([
  ["modle", ["model"]],
  ["exti", ["exit"]],
  ["perm", ["permissions"]],
  ["co", ["cost", "compact", "context"]],
  ["xyzzyx", []],
])("near %j are %j", (name, near) => {
  expect(nearCommands(name).slice(0, 3)).toEqual(near);
});

test("a command that does not exist is told what was meant, or that it comes later", () => {
  expect(unknownCommand("modle", en.commands)).toBe("no command /modle; did you mean /model?");
  expect(unknownCommand("xyzzyx", en.commands)).toBe("no command /xyzzyx; /help lists them all");
  expect(unknownCommand("Mcp", en.commands)).toBe("this version does not have /Mcp yet");
  expect(unknownCommand("mcp", zh.commands)).toBe("此版本还没有 /mcp");
});

test("names and aliases are unique and each command is described in both languages", () => {
  const names = SLASH_COMMANDS.flatMap(({ name, aliases }) => [name, ...aliases]);
  expect(new Set(names).size).toBe(names.length);
  for (const { commands } of [en, zh]) {
    expect(Object.keys(commands.descriptions).sort()).toEqual(SLASH_COMMANDS.map(({ name }) => name).sort());
    expect(describeCommands(commands).filter(({ description }) => description === "")).toEqual([]);
  }
});

test.each([
  ["/login openai sk-1", "/login openai"],
  ["/LOGIN  openai\tsk-1\nmore", "/LOGIN  openai"],
  ["/login openai", "/login openai"],
  ["/login", "/login"],
  ["/model openai sk-1", "/model openai sk-1"],
  ["say /login openai sk-1", "say /login openai sk-1"],
])("a key that was typed behind /login goes: %j", (typed, kept) => {
  expect(withoutKey(typed)).toBe(kept);
});
