import { describe, expect, test } from "vitest";
import { createToolCallAccumulator, type ToolCallFragment } from "../../src/providers/tool-call-accumulator.ts";

const accumulate = (fragments: readonly ToolCallFragment[], taken: readonly string[] = []) => {
  let made = 0;
  const accumulator = createToolCallAccumulator(new Set(taken), () => {
    made += 1;
    return `new_${made}`;
  });
  for (const fragment of fragments) accumulator.add(fragment);
  return accumulator;
};

const call = (id: string, name: string, args: string) => ({ id, name, arguments: args });

describe("fragments become calls", () => {
  test.each<[string, readonly ToolCallFragment[], readonly object[]]>([
    [
      "sparse indexes keep their order and lose nothing",
      [
        { index: 7, id: "b", name: "bash", arguments: "{}" },
        { index: 2, id: "a", name: "read_file", arguments: "{}" },
      ],
      [call("a", "read_file", "{}"), call("b", "bash", "{}")],
    ],
    [
      "interleaved pieces go to their index",
      [
        { index: 0, id: "a", name: "x", arguments: "" },
        { index: 1, id: "b", name: "y", arguments: "" },
        { index: 0, arguments: '{"p":' },
        { index: 1, arguments: '{"q":' },
        { index: 0, arguments: "1}" },
        { index: 1, arguments: "2}" },
      ],
      [call("a", "x", '{"p":1}'), call("b", "y", '{"q":2}')],
    ],
    [
      "interleaved pieces without an index go to their id",
      [
        { id: "a", name: "x", arguments: '{"p":' },
        { id: "b", name: "y", arguments: '{"q":' },
        { id: "a", arguments: "1}" },
        { id: "b", arguments: "2}" },
      ],
      [call("a", "x", '{"p":1}'), call("b", "y", '{"q":2}')],
    ],
    [
      "two calls that both come with index 0 are two",
      [
        { index: 0, id: "a", name: "x", arguments: '{"p":1}' },
        { index: 0, id: "b", name: "x", arguments: '{"p":2}' },
      ],
      [call("a", "x", '{"p":1}'), call("b", "x", '{"p":2}')],
    ],
    [
      "two whole calls with neither id nor index are two, also when they are the same tool",
      [
        { name: "x", arguments: '{"p":1}' },
        { name: "x", arguments: '{"p":2}' },
      ],
      [call("new_1", "x", '{"p":1}'), call("new_2", "x", '{"p":2}')],
    ],
    [
      "a new name without an index begins a new call",
      [
        { name: "x", arguments: "" },
        { name: "y", arguments: "{}" },
      ],
      [call("new_1", "x", "{}"), call("new_2", "y", "{}")],
    ],
    [
      "a name that is repeated without index and id stays one",
      [
        { name: "x", arguments: '{"p":' },
        { name: "x", arguments: "1}" },
      ],
      [call("new_1", "x", '{"p":1}')],
    ],
    [
      "pieces of one call that each have another id stay one call with the first id",
      [
        { index: 0, id: "a", name: "x", arguments: '{"p"' },
        { index: 0, id: "b", name: "x", arguments: ":1" },
        { index: 0, id: "c", arguments: "}" },
      ],
      [call("a", "x", '{"p":1}')],
    ],
    [
      "an id that comes late counts",
      [
        { index: 0, name: "x", arguments: "" },
        { index: 0, id: "a", arguments: "{}" },
      ],
      [call("a", "x", "{}")],
    ],
    [
      "arguments may be an object",
      [{ index: 0, id: "a", name: "x", arguments: { p: [1, "z"] } }],
      [call("a", "x", '{"p":[1,"z"]}')],
    ],
    [
      "arguments that come again at the end count once",
      [
        { index: 0, id: "a", name: "x", arguments: '{"p":1}' },
        { index: 0, id: "a", name: "x", arguments: '{"p":1}' },
      ],
      [call("a", "x", '{"p":1}')],
    ],
    [
      "a name in pieces or growing is one name",
      [
        { index: 0, id: "a", name: "read_" },
        { index: 0, name: "file", arguments: "{}" },
        { index: 1, id: "b", name: "wri" },
        { index: 1, name: "write_file", arguments: "{}" },
      ],
      [call("a", "read_file", "{}"), call("b", "write_file", "{}")],
    ],
    ["no arguments are an empty object", [{ index: 0, id: "a", name: "x" }], [call("a", "x", "{}")]],
    ["blank arguments are an empty object", [{ id: "a", name: "x", arguments: " \n" }], [call("a", "x", "{}")]],
    ["an index as text is an index", [{ index: "1", id: "a", name: "x", arguments: "{}" }], [call("a", "x", "{}")]],
    [
      "broken arguments stay as they are",
      [{ id: "a", name: "x", arguments: '{"p":1,}' }],
      [call("a", "x", '{"p":1,}')],
    ],
    ["a call without a name still has one", [{ index: 0, id: "a", arguments: "{}" }], [call("a", "unknown", "{}")]],
    ["nulls are nothing", [{ index: null, id: null, name: "x", arguments: null }], [call("new_1", "x", "{}")]],
    [
      "the same id twice in a turn becomes two ids",
      [
        { index: 0, id: "a", name: "x", arguments: "{}" },
        { index: 1, id: "a", name: "x", arguments: "{}" },
      ],
      [call("a", "x", "{}"), call("new_1", "x", "{}")],
    ],
  ])("%s", (_, fragments, expected) => {
    expect(accumulate(fragments).calls()).toEqual(expected);
  });

  test("an id that the history already holds is replaced", () => {
    expect(accumulate([{ index: 0, id: "call_0", name: "x" }], ["call_0"]).calls()).toEqual([call("new_1", "x", "{}")]);
  });

  test("ids are made once", () => {
    const accumulator = accumulate([{ name: "x" }]);
    expect(accumulator.calls()).toEqual(accumulator.calls());
  });
});

describe("calls that the output limit cut", () => {
  test.each<[string, readonly ToolCallFragment[], readonly string[]]>([
    ["whole arguments are not cut", [{ index: 0, id: "a", name: "x", arguments: '{"p":1}' }], []],
    ["half of them are", [{ index: 0, id: "a", name: "x", arguments: '{"p":' }], ["a"]],
    ["none at all are, in the last call", [{ index: 0, id: "a", name: "x" }], ["a"]],
    [
      "an earlier call without arguments is not",
      [
        { index: 0, id: "a", name: "x" },
        { index: 1, id: "b", name: "y", arguments: "{" },
      ],
      ["b"],
    ],
  ])("%s", (_, fragments, expected) => {
    expect(accumulate(fragments).cutCalls()).toEqual(expected);
  });
});
