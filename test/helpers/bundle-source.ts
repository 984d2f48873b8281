import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";
import { tempDir } from "./temp-dir.ts";

const ENTRY = fileURLToPath(new URL("../../entry.ts", import.meta.url));

/**
 * TypeScript whose imports begin at the repository as one file that Node runs; returns its path.
 * @param files others by their absolute paths, as if they stood there
 */
export const bundleSource = async (entry: string, files: ReadonlyMap<string, string> = new Map()): Promise<string> => {
  const texts = new Map([...files, [ENTRY, entry]]);
  const file = join(tempDir(), "bundle.mjs");
  await build({
    input: ENTRY,
    platform: "node",
    plugins: [
      {
        name: "texts",
        resolveId: (path, importer = ENTRY) => {
          const id = resolve(dirname(importer), path);
          return texts.has(id) ? id : null;
        },
        load: (id) => texts.get(id),
      },
    ],
    output: { file, codeSplitting: false },
  });
  return file;
};
