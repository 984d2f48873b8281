import { expect, test } from "vitest";
import { listModels } from "../../src/providers/models-endpoint.ts";
import { createFetch } from "../../src/providers/transport.ts";
import { modelServer } from "../helpers/model-server.ts";
import { NEVER } from "./model-options.ts";

const fetch = createFetch({ env: {} });

test.each<[string, unknown, readonly string[]]>([
  ["OpenAI's list", { object: "list", data: [{ id: "b" }, { id: "a" }, { id: "b" }] }, ["b", "a"]],
  ["a bare list", [{ id: "a" }], ["a"]],
  ["a list of names", { models: [{ name: "a" }] }, ["a"]],
  ["an empty list", { data: [] }, []],
  ["null", { data: null }, []],
  ["a body that is null", null, []],
  ["a text", "models", []],
  ["an error", { error: { message: "no" } }, []],
  ["bare names", { data: ["a", null, 5, { object: "model" }, ["b"]] }, ["a"]],
  ["names under model", { models: [{ model: "a:latest" }] }, ["a:latest"]],
])("%s", async (_, body, expected) => {
  const server = await modelServer([{ chunks: [JSON.stringify(body)] }]);
  expect(await listModels(`${server.origin}/v1/`, "k", fetch, NEVER)).toEqual(expected);
  expect([server.requests[0]?.url, server.requests[0]?.headers.authorization]).toEqual(["/v1/models", "Bearer k"]);
});

test("Anthropic's list has its own path and headers", async () => {
  const server = await modelServer([{ chunks: ['{"data":[{"type":"model","id":"c"}],"has_more":false}'] }]);
  expect(await listModels(server.origin, "k", fetch, NEVER, "anthropic")).toEqual(["c"]);
  const [request] = server.requests;
  expect([request?.url, request?.headers["x-api-key"], request?.headers["anthropic-version"]]).toEqual([
    "/v1/models?limit=1000",
    "k",
    "2023-06-01",
  ]);
});

test.each([
  [401, "auth"],
  [404, "bad_request"],
])("HTTP %d is an error", async (status, kind) => {
  const { origin } = await modelServer([{ status }]);
  await expect(listModels(origin, "", fetch, NEVER)).rejects.toMatchObject({ kind, status });
});

test.each(["/v1", "/v1/", "/v1/chat/completions", "/v1/chat/completions/"])(
  "%s is the address of one list",
  async (path) => {
    const server = await modelServer([{ chunks: ['{"data":[]}'] }]);
    await listModels(server.origin + path, "", fetch, NEVER);
    expect(server.requests[0]?.url).toBe("/v1/models");
  },
);

test("what is no JSON is an error that quotes nothing", async () => {
  const { origin } = await modelServer([{ chunks: ["<html>k-0123456789"] }]);
  const base = `${origin.replace("://", "://me:secret@")}/v1`;
  await expect(listModels(base, "k-0123456789", fetch, NEVER)).rejects.toMatchObject({
    kind: "protocol",
    message: `GET ${origin}/v1/models: no JSON`,
  });
});
