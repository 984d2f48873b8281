// Bundles src/ into dist/: a small entry and chunks that are loaded when they are needed. Writes NOTICE beside package.json.
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

// The model SDKs touch the global Headers and FormData, which loads undici: 20 ms and 6 MB for nothing.
const sdkGlobals = {
  name: "sdk-globals",
  setup(build) {
    const globals = JSON.stringify(join(root, "src", "providers", "sdk-globals.ts"));
    build.onLoad({ filter: /node_modules\/(openai|@anthropic-ai\/sdk)\/.*\.mjs$/ }, ({ path }) => {
      const text = readFileSync(path, "utf8");
      const uses = /\b(Headers|FormData)\b/.test(text);
      return { loader: "js", contents: uses ? `import { Headers, FormData } from ${globals};\n${text}` : text };
    });
  },
};

// Ink keeps every text that it has ever measured or wrapped: the memory of a long chat. It lays every frame out by the
// character, and it can load React's developer tools.
const ink = {
  name: "ink",
  setup(build) {
    build.onLoad({ filter: /node_modules\/ink\/build\/(measure-text|wrap-text)\.js$/ }, ({ path }) => {
      const text = readFileSync(path, "utf8");
      const contents = text.replace(/^.*cache(\.set\(|\[\w+\] = ).*$/m, "");
      if (contents === text) throw new Error(`${path}: there is no cache any more`);
      return { loader: "js", contents };
    });
    const output = JSON.stringify(join(root, "src", "ui", "ink-output.ts"));
    build.onLoad({ filter: /node_modules\/ink\/build\/output\.js$/ }, () => ({
      contents: `export { default } from ${output};`,
    }));
    build.onResolve({ filter: /^react-devtools-core$/ }, ({ path }) => ({ path, namespace: "empty" }));
    build.onLoad({ filter: /.*/, namespace: "empty" }, () => ({ contents: "export default {}" }));
  },
};

// Beside dist/ first: whoever runs the program meanwhile finds a whole one.
const target = join(root, "dist");
const fresh = `${target}.new`;
rmSync(fresh, { recursive: true, force: true });
const shared = {
  absWorkingDir: root,
  outdir: fresh,
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node20",
  minify: true,
  keepNames: false,
  mainFields: ["module", "main"],
  jsx: "automatic",
  chunkNames: "chunks/[name]-[hash]",
  legalComments: "none",
  metafile: true,
  define: { "process.env.NODE_ENV": '"production"', HARNESS9_VERSION: JSON.stringify(manifest.version) },
  // Some bundled packages are CommonJS and require Node's own modules.
  banner: {
    js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
  },
};
const { metafile } = await build({
  ...shared,
  entryPoints: { cli: "src/cli/main.ts" },
  // The same widths, twenty times as fast; Ink measures each character of each frame.
  alias: { "string-width": "fast-string-width" },
  plugins: [sdkGlobals, ink],
});
// A thread of its own, and so a bundle of its own: shared chunks would only be more files to read at the start.
const worker = await build({ ...shared, entryPoints: { "snapshot-worker": "src/snapshots/worker.ts" } });
if (process.argv.includes("--metafile")) writeFileSync(join(fresh, "meta.json"), JSON.stringify(metafile));
rmSync(target, { recursive: true, force: true });
renameSync(fresh, target);

writeFileSync(
  join(root, "NOTICE"),
  notice(bundledPackages([...Object.keys(metafile.inputs), ...Object.keys(worker.metafile.inputs)])),
);

/** Folders of the packages that went into the bundle, sorted. */
function bundledPackages(inputs) {
  const folders = inputs.flatMap((input) => input.match(/^.*node_modules\/(?:@[^/]+\/)?[^/]+/)?.[0] ?? []);
  return [...new Set(folders)].sort();
}

function notice(folders) {
  const sections = folders.map((folder) => {
    const { name, version, license, homepage } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
    const file = readdirSync(join(root, folder)).find((entry) => /^(licen[cs]e|copying)/i.test(entry));
    const text =
      file && existsSync(join(root, folder, file)) ? readFileSync(join(root, folder, file), "utf8").trim() : "";
    return `${name} ${version} (${license})${homepage ? `\n${homepage}` : ""}\n\n${text}`;
  });
  return `harness9 contains the following packages, bundled and minified.\n\n${sections.join(`\n\n${"-".repeat(72)}\n\n`)}\n`;
}
