// What the permission policy costs a command, after warm-up: parse and decide, in the mode ask with some rules.
// Exit 0: each command stays under the limit, and the parser is loaded by the first command only. 1: not so.
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { importSource } from "./import-source.mjs";

const LIMIT_MS = 1;
const ROUNDS = 2000;
const WARM_UP = 500;

const COMMANDS = [
  "ls -la src",
  "npm test -- -u",
  "git status -sb",
  "cat src/a.ts | head -20",
  "cd src && grep -rn 'a b' --include='*.ts' . | sort | uniq -c | head",
  "timeout 60 npm run build && node dist/cli.js --version; echo $?",
  'for f in *.ts; do echo "$f"; sed -n 1,20p "$f"; done',
  "find . -name '*.ts' -not -path './node_modules/*' -exec wc -l {} +",
];

const ENTRY = `
export { decide } from "./src/permissions/policy.ts";
export { parseRule } from "./src/permissions/rules.ts";
export { parseCommand } from "./src/permissions/shell-command.ts";
export { en } from "./src/text/en.ts";
`;

const main = async () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "harness9-decide-")));
  try {
    const { exports, files } = await importSource(ENTRY, root);
    const isEager = files.some((path) => path.includes("/unbash/"));
    const slow = await measure(root, exports);
    console.log(isEager ? "\nthe parser is loaded at once" : "\nthe parser is loaded by the first command");
    process.exitCode = slow || isEager ? 1 : 0;
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
};

const measure = async (workDir, { decide, parseCommand, parseRule, en }) => {
  const strings = en.permission;
  const parse = (list) => list.map((text) => parseRule(text, strings));
  const places = { workDir, homeDir: join(workDir, "home"), harnessHome: join(workDir, "home/.harness9") };
  const rules = {
    allow: parse(["bash(npm test:*)", "bash(npm run build:*)", "edit_file(src/**)", "bash(git diff:*)"]),
    ask: parse(["bash(git push:*)"]),
    deny: parse(["bash(rm:*)", "bash(curl:*)"]),
  };
  const options = { mode: "ask", rules, guard: true, trusted: true, places, strings };
  const one = async (text) => {
    const command = await parseCommand(text, places);
    return decide({ name: "bash", kind: "execute", permission: "high", command }, options).decision;
  };
  let isSlow = false;
  console.log(`median   p99      decision  command (ms, ${ROUNDS} rounds)`);
  for (const text of COMMANDS) {
    const times = [];
    let decision = "";
    for (let round = -WARM_UP; round < ROUNDS; round += 1) {
      const start = process.hrtime.bigint();
      decision = await one(text);
      if (round >= 0) times.push(Number(process.hrtime.bigint() - start) / 1e6);
    }
    times.sort((a, b) => a - b);
    const at = (share) => times[Math.floor(times.length * share)] ?? 0;
    if (at(0.5) >= LIMIT_MS) isSlow = true;
    console.log(`${at(0.5).toFixed(3)}    ${at(0.99).toFixed(3)}    ${decision.padEnd(8)}  ${text}`);
  }
  return isSlow;
};

await main();
