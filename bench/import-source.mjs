// Modules of src/ for a benchmark, bundled as the build does it.
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "rolldown";

const ENTRY = join(dirname(dirname(fileURLToPath(import.meta.url))), "source.ts");

/**
 * @param {string} text TypeScript that exports what is wanted; its paths begin at the repository
 * @param {string} folder a temporary one, for the bundle
 * @returns `files`: those that are loaded with the exports at once
 */
export const importSource = async (text, folder) => {
  const { output } = await build({
    input: ENTRY,
    platform: "node",
    plugins: [
      {
        name: "source",
        resolveId: (id) => (id === ENTRY ? id : null),
        load: (id) => (id === ENTRY ? text : null),
      },
    ],
    output: { dir: folder, entryFileNames: "[name].mjs", chunkFileNames: "[name]-[hash].mjs" },
  });
  const atOnce = new Set([output[0]]);
  for (const { imports } of atOnce) for (const chunk of output) if (imports.includes(chunk.fileName)) atOnce.add(chunk);
  return {
    exports: await import(pathToFileURL(join(folder, output[0].fileName)).href),
    files: [...atOnce].flatMap(({ moduleIds }) => moduleIds),
  };
};
