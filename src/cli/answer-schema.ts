import { readFileSync } from "node:fs";
import type { ValidateFunction } from "ajv";
import { type Input, StopError } from "../engine/options.ts";
import type { JsonSchema } from "../schema/tool.ts";
import type { Strings } from "../text/strings.ts";

/** How often a model may correct an answer that misses the schema. */
const CORRECTIONS = 2;

export type AnswerSchema = {
  readonly schema: JsonSchema;
  /** A `stopping` check: tells the model what is wrong with its answer, and gives up after two corrections. */
  readonly stopping: (answer: string) => Promise<Input | undefined>;
  /** The value of an answer that passed. */
  readonly parse: (answer: string) => unknown;
};

/**
 * Reads a JSON Schema file (draft 2020-12, or draft 7 where `$schema` says so) for the final answer.
 * @throws Error that says what is wrong with the file or the schema.
 */
export const loadAnswerSchema = async (path: string, strings: Strings["headless"]): Promise<AnswerSchema> => {
  const schema: unknown = JSON.parse(readFileSync(path, "utf8"));
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) throw new Error(strings.schemaNotObject);
  const validate = await compile(schema as JsonSchema);
  let corrections = 0;

  const stopping = async (answer: string): Promise<Input | undefined> => {
    const problem = check(answer, validate, strings);
    if (problem === undefined) return undefined;
    if (corrections >= CORRECTIONS) throw new StopError(strings.answerMissesSchema(problem));
    corrections += 1;
    return { content: strings.correctAnswer(problem), source: "reminder" };
  };
  return { schema: schema as JsonSchema, stopping, parse: (answer) => JSON.parse(unfence(answer)) as unknown };
};

// `format` stays an annotation, as draft 2020-12 has it.
const compile = async (schema: JsonSchema): Promise<ValidateFunction> => {
  // CommonJS: once bundled it has no named exports.
  const Ajv = String(schema["$schema"]).includes("draft-07")
    ? (await import("ajv")).default.Ajv
    : (await import("ajv/dist/2020.js")).default.Ajv2020;
  return new Ajv({ strict: false, allErrors: true, logger: false }).compile(schema);
};

const check = (answer: string, validate: ValidateFunction, strings: Strings["headless"]): string | undefined => {
  let value: unknown;
  try {
    value = JSON.parse(unfence(answer));
  } catch (error) {
    return strings.answerNotJson(error instanceof Error ? error.message : String(error));
  }
  if (validate(value)) return undefined;
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath || "/"}: ${message}`).join("; ");
};

/** The text inside a code fence, where that is all there is. */
const unfence = (answer: string): string => answer.trim().match(/^```(?:json)?\s*\n([\s\S]*?)\n?```$/)?.[1] ?? answer;
