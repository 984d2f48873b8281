// Bundles src/ into dist/: a small entry and chunks that are loaded when they are needed. Writes NOTICE beside package.json.
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

// The model SDKs touch the global Headers and FormData, which loads undici: 20 ms and 6 MB for nothing. And of all that their
// servers offer only the conversation is used: the other classes become empty ones.
const sdks = {
  name: "sdks",
  load: {
    filter: { id: /node_modules\/(openai|@anthropic-ai\/sdk)\/.*\.mjs$/ },
    handler: (id) => {
      const text = readFileSync(id, "utf8");
      if (/\/resources\/(?!(chat|messages|shared|index)\b)/.test(id)) {
        const passedOn = text.match(/^export (\*|\{.*\}) from .*$/gm) ?? [];
        const own = [...text.matchAll(/^export (?:class|const|var) (\w+)/gm)].map(
          ([, name]) => `export class ${name} {}`,
        );
        return [...passedOn, ...own].join("\n");
      }
      if (!/\b(Headers|FormData)\b/.test(text)) return null;
      const globals = JSON.stringify(join(root, "src", "providers", "sdk-globals.ts"));
      return { code: `import { Headers, FormData } from ${globals};\n${text}`, moduleType: "js" };
    },
  },
};

// Ink keeps every text that it has ever measured or wrapped: the memory of a long chat. It lays every frame out by the
// character, and it can load React's developer tools.
const ink = {
  name: "ink",
  load: {
    filter: { id: /node_modules\/ink\/build\/(measure-text|wrap-text|output|devtools)\.js$/ },
    handler: (id) => {
      if (id.endsWith("devtools.js")) return "";
      if (id.endsWith("output.js")) {
        return `export { default } from ${JSON.stringify(join(root, "src", "ui", "ink-output.ts"))};`;
      }
      const text = readFileSync(id, "utf8");
      const code = text.replace(/^.*cache(\.set\(|\[\w+\] = ).*$/m, "");
      if (code === text) throw new Error(`${id}: there is no cache any more`);
      return code;
    },
  },
};

// Node reads a text that is all Latin-1 faster, and keeps it in half the memory.
const ascii = {
  name: "ascii",
  generateBundle: (_options, bundle) => {
    for (const chunk of Object.values(bundle))
      chunk.code = chunk.code.replace(
        /[^\0-\x7f]/g,
        (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
      );
  },
};

// Each file costs half a millisecond at the start, so what a start needs is in one: of every command, of a run, of the chat.
const startOf = (name, entry, priority) => ({ name, test: new RegExp(`/src/cli/${entry}\\.ts$`), priority });
const GROUPS = [startOf("commands", "main", 3), startOf("run", "run-command", 2), startOf("chat", "start-chat", 1)];

const bundle = async (input, folder, codeSplitting) => {
  const build = await rolldown({
    cwd: root,
    input,
    platform: "node",
    // The same widths, twenty times as fast; Ink measures each character of each frame.
    resolve: { alias: { "string-width": "fast-string-width" }, mainFields: ["module", "main"] },
    transform: {
      target: "node20",
      define: { "process.env.NODE_ENV": '"production"', HARNESS9_VERSION: JSON.stringify(manifest.version) },
    },
    plugins: [sdks, ink, ascii],
  });
  const { output } = await build.write({
    dir: folder,
    format: "esm",
    minify: true,
    comments: false,
    entryFileNames: "[name].js",
    chunkFileNames: "chunks/[name]-[hash].js",
    codeSplitting,
  });
  await build.close();
  return output.flatMap((chunk) => Object.keys(chunk.modules));
};

// Beside dist/ first: whoever runs the program meanwhile finds a whole one.
const target = join(root, "dist");
const fresh = `${target}.new`;
rmSync(fresh, { recursive: true, force: true });
const modules = [
  ...(await bundle({ cli: "src/cli/main.ts" }, fresh, { groups: GROUPS })),
  // A thread of its own, and so a bundle of its own: shared chunks would only be more files to read at the start.
  ...(await bundle({ "snapshot-worker": "src/snapshots/worker.ts" }, fresh, true)),
];
rmSync(target, { recursive: true, force: true });
renameSync(fresh, target);
writeFileSync(join(root, "NOTICE"), notice(bundledPackages(modules)));

/** Folders of the packages that went into the bundle, sorted. */
function bundledPackages(inputs) {
  const folders = inputs.flatMap((input) => input.match(/^.*node_modules\/(?:@[^/]+\/)?[^/]+/)?.[0] ?? []);
  return [...new Set(folders)].sort();
}

function notice(folders) {
  const sections = folders.map((folder) => {
    const { name, version, license, homepage } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const file = readdirSync(folder).find((entry) => /^(licen[cs]e|copying)/i.test(entry));
    const text = file && existsSync(join(folder, file)) ? readFileSync(join(folder, file), "utf8").trim() : "";
    return `${name} ${version} (${license})${homepage ? `\n${homepage}` : ""}\n\n${text}`;
  });
  return `harness9 contains the following packages, bundled and minified.\n\n${sections.join(`\n\n${"-".repeat(72)}\n\n`)}\n`;
}
