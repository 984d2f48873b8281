#!/usr/bin/env node
import { existsSync, readFileSync } from "node:fs";
import module from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";

const [major] = process.versions.node.split(".").map(Number);
const [first, ...rest] = process.argv.slice(2);
if (major < 20) {
  process.stderr.write(`harness9 needs Node.js 20 or newer; this is ${process.version}.\n`);
  process.exitCode = 1;
} else if (rest.length === 0 && (first === "--version" || first === "-v")) {
  // Answered before anything else is loaded.
  process.stdout.write(`${JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).version}\n`);
} else {
  // Since Node 22. Never in the temp folder, where somebody else could leave code for us.
  const home = process.env.HARNESS9_HOME || join(homedir(), ".harness9");
  if (existsSync(home)) module.enableCompileCache?.(join(home, "compile-cache"));
  const { main } = await import("../dist/cli.js");
  await main();
}
