import { fileURLToPath } from "node:url";
import { newPlace, type Place, put } from "./program.ts";

/** A recording that test/cassettes/record.test.ts has made. */
export const cassette = (name: string): string => fileURLToPath(new URL(`../cassettes/${name}.jsonl`, import.meta.url));

const FILES = {
  "sum.mjs": "export const sum = (a, b) => a - b;\n",
  "test.mjs":
    'import { sum } from "./sum.mjs";\nconst isRight = sum(1, 2) === 3;\n' +
    'console.log(isRight ? "ok" : "sum(1, 2) is not 3");\nprocess.exitCode = isRight ? 0 : 1;\n',
};

/** The project that the cassettes were recorded in. */
export const newProject = (): Place => {
  const place = newPlace();
  for (const [path, content] of Object.entries(FILES)) put(place.workDir, path, content);
  put(place.home, ".harness9/config.json", JSON.stringify({ sandbox: "off" }));
  return place;
};
