// Modules of src/ for a benchmark, bundled as the build does it.
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const REPOSITORY = dirname(dirname(fileURLToPath(import.meta.url)));

/**
 * @param {string} entry TypeScript that exports what is wanted; its paths begin at the repository
 * @param {string} folder a temporary one, for the bundle
 */
export const importSource = async (entry, folder) => {
  const outfile = join(folder, "source.mjs");
  await build({
    stdin: { contents: entry, resolveDir: REPOSITORY, loader: "ts" },
    bundle: true,
    format: "esm",
    platform: "node",
    outfile,
    logLevel: "error",
  });
  return import(pathToFileURL(outfile).href);
};
