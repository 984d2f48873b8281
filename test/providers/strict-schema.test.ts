import { expect, test } from "vitest";
import { strictSchema } from "../../src/providers/strict-schema.ts";

const object = (properties: object, required = Object.keys(properties), more: object = {}) => ({
  type: "object",
  properties,
  required,
  ...more,
});

test("an object whose properties are all required is closed and fits", () => {
  expect(strictSchema(object({ path: { type: "string", description: "p" } }))).toEqual({
    type: "object",
    properties: { path: { type: "string", description: "p" } },
    required: ["path"],
    additionalProperties: false,
  });
});

test("inner objects are closed too", () => {
  const inner = object({ n: { type: "integer", minimum: 1 } });
  expect(strictSchema(object({ list: { type: "array", items: inner } }))).toEqual({
    ...object({ list: { type: "array", items: { ...inner, additionalProperties: false } } }),
    additionalProperties: false,
  });
});

test("an object without properties fits", () => {
  expect(strictSchema({ type: "object" })).toEqual({
    type: "object",
    properties: {},
    required: [],
    additionalProperties: false,
  });
});

test.each<[string, Record<string, unknown>]>([
  ["an optional property", object({ a: { type: "string" } }, [])],
  ["an open object", object({ a: { type: "string" } }, ["a"], { additionalProperties: true })],
  ["a map", object({ a: { type: "object", additionalProperties: { type: "string" } } })],
  ["an unsupported keyword", object({ a: { type: "string", minLength: 1 } })],
  ["an unsupported format", object({ a: { type: "string", format: "uri" } })],
  ["a default", object({ a: { type: "string", default: "x" } })],
  ["oneOf", object({ a: { oneOf: [{ type: "string" }] } })],
  ["a property of any type", object({ a: {} })],
  ["a boolean schema", object({ a: true })],
  ["an array of anything", object({ a: { type: "array" } })],
  ["an optional property deep inside", object({ a: { anyOf: [object({ b: { type: "string" } }, [])] } })],
  ["a root that is no object", { type: "string" }],
  ["a root union", object({}, [], { anyOf: [{ type: "object" }] })],
])("%s does not fit", (_, schema) => {
  expect(strictSchema(schema)).toBeUndefined();
});
