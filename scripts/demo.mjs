// Carries out one order of the offline demonstration in a scratch folder and shows what came of it: the program's main job
// without a key and without a network. Needs the build.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const program = join(dirname(dirname(fileURLToPath(import.meta.url))), "bin", "harness9.js");
const scratch = mkdtempSync(join(tmpdir(), "harness9-demo-"));
const project = join(scratch, "project");
mkdirSync(project);

const order = [
  "write sum.mjs: export const sum = (a, b) => a - b",
  'write check.mjs: import { sum } from "./sum.mjs"\nconsole.log("2 + 3 =", sum(2, 3))',
  "run node check.mjs",
  'replace "a - b" with "a + b" in sum.mjs',
  "run node check.mjs",
].join(" then ");

heading("Order");
console.log(order);
heading("Run");
harness9("run", "--provider", "offline", "--verbose", order);
heading(`Files in ${project}`);
for (const name of readdirSync(project)) {
  const text = readFileSync(join(project, name), "utf8");
  console.log(`${name}\n${text.replace(/^/gm, "    ")}`);
}
heading("Log");
harness9("logs", "--lines", "10");
if (!readFileSync(join(project, "sum.mjs"), "utf8").includes("a + b")) throw new Error("sum.mjs was not changed");

function heading(text) {
  console.log(`\n== ${text}`);
}

/** With a home of its own: it reads nobody's settings and leaves nothing outside the scratch folder. */
function harness9(...args) {
  const others = Object.entries(process.env).filter(([name]) => !name.startsWith("HARNESS9_"));
  const env = { ...Object.fromEntries(others), HARNESS9_HOME: join(scratch, "home") };
  const { status } = spawnSync(process.execPath, [program, ...args], { cwd: project, env, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}
