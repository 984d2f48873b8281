import { nearest } from "../text/nearest.ts";
import type { Strings } from "../text/strings.ts";
import { checkValue, textValues } from "./check-value.ts";
import { ConfigError } from "./config-error.ts";
import { editFile } from "./edit-file.ts";
import { isSettingKey, SETTING_KEYS } from "./settings.ts";

/**
 * Sets one setting in a settings file, which keeps its comments; `undefined` takes it out. Text is read as on the command line.
 * @throws ConfigError for an unknown key, a value that does not fit, or a file that is no JSON object.
 */
export const setConfigValue = async (
  file: string,
  key: string,
  value: unknown,
  strings: Strings["config"],
): Promise<void> => {
  if (!isSettingKey(key)) throw new ConfigError(strings.unknownKey(file, key, nearest(key, SETTING_KEYS)));
  const candidates = typeof value === "string" ? textValues(key, value) : [value];
  const result = checkValue(key, candidates);
  const [problem] = value === undefined ? [] : result.problems;
  if (problem) throw new ConfigError(strings.invalid(file, problem.key, problem.rule));
  // "sandbox" may stand there with a value of its own, which has no room for others.
  const place = key.startsWith("sandbox.") ? [key] : key.split(".");
  await editFile(file, place, value === undefined ? undefined : result.given, strings);
};
