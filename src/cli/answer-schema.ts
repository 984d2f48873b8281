import type { ValidateFunction } from "ajv";
import { type Input, StopError } from "../engine/options.ts";
import type { JsonSchema } from "../schema/tool.ts";
import { errorMessage } from "../text/error-message.ts";
import { EXIT } from "../text/exit.ts";
import type { Strings } from "../text/strings.ts";
import { UserError } from "../text/user-error.ts";
import { readOptionFile } from "./named-files.ts";

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
 * @throws UserError that says what is wrong with the file or the schema.
 */
export const loadAnswerSchema = async (path: string, strings: Strings): Promise<AnswerSchema> => {
  const { schema, validate } = await readSchema(path, strings);
  let corrections = 0;

  const stopping = async (answer: string): Promise<Input | undefined> => {
    const problem = check(answer, validate, strings.headless);
    if (problem === undefined) return undefined;
    if (corrections >= CORRECTIONS) throw new StopError(strings.headless.answerMissesSchema(problem));
    corrections += 1;
    return { content: strings.headless.correctAnswer(problem), source: "reminder" };
  };
  return { schema, stopping, parse: (answer) => JSON.parse(unfence(answer)) as unknown };
};

const readSchema = async (
  path: string,
  { cli, headless }: Strings,
): Promise<{ readonly schema: JsonSchema; readonly validate: ValidateFunction }> => {
  const text = readOptionFile("--json-schema", path, cli);
  try {
    const schema: unknown = JSON.parse(text);
    if (!isSchema(schema)) throw new Error(headless.schemaNotObject);
    return { schema, validate: await compile(schema) };
  } catch (error) {
    const message = cli.schemaInvalid(path, errorMessage(error));
    throw new UserError(message, { exitCode: EXIT.input, cause: error });
  }
};

const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

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
    return strings.answerNotJson(errorMessage(error));
  }
  if (validate(value)) return undefined;
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath || "/"}: ${message}`).join("; ");
};

/** The text inside a code fence, where that is all there is. */
const unfence = (answer: string): string => answer.trim().match(/^```(?:json)?\s*\n([\s\S]*?)\n?```$/)?.[1] ?? answer;
