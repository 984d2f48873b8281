// A module of its own, loaded with the first skill: of a CommonJS package the bundle has names only where they are
// imported like this.
import { parse } from "yaml";

/**
 * The value of a YAML text, each scalar as it is written: a name may be `0123`, `null` or `1e3`. Warnings are nobody's.
 * @throws Error that says where it is broken
 */
export const parseYaml = (text: string): unknown => parse(text, { logLevel: "error", schema: "failsafe" });
