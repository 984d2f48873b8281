// biome-ignore-all lint/suspicious/noTemplateCurlyInString: shell text
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { decide } from "../../src/permissions/policy.ts";
import { parseRule } from "../../src/permissions/rules.ts";
import { parseCommand } from "../../src/permissions/shell-command.ts";
import { en } from "../../src/text/en.ts";
import { tempDir } from "../helpers/temp-dir.ts";

const RUNS = 500;

// Every piece that can begin, hide or pass on a command; `evil` is the one that must not run.
const FRAGMENTS: readonly string[] = [
  ...[
    ";",
    "&&",
    "||",
    "|",
    "&",
    "\n",
    "$(",
    "`",
    ")",
    "'",
    '"',
    "\\",
    "<(",
    ">(",
    "{ ",
    "; }",
    "(",
    "<<EOF\n",
    "<<'E'\n",
    "\nEOF\n",
    "\nE\n",
  ],
  ...[
    "${x:-",
    "${x@P}",
    "}",
    "$((",
    "))",
    "[[ ",
    " ]]",
    "if ",
    "then ",
    "fi;",
    "for x in a; do ",
    "; done",
    "case x in x) ",
    ";; esac",
    "while ",
  ],
  ...[
    "sh -c ",
    "bash -c ",
    "eval ",
    "env ",
    "env -S ",
    "A=1 ",
    "x=",
    "x='$(evil)';",
    "coproc ",
    "! ",
    "time ",
    "command ",
    "exec ",
    "builtin ",
  ],
  ...[
    "trap ",
    " EXIT",
    "f() ",
    "f ",
    "$x ",
    "> f ",
    ">&2 ",
    "<<< ",
    "# ",
    " ",
    "a",
    "\r",
    "\t",
    "\u00a0",
    "$'",
    "\\x65vil",
    "{a,",
    "evil}",
    "*",
    "~",
  ],
  ...["${x:", "${a[", "]}", "a['", "']=1 ", "(( "],
  ...[
    "evil ",
    "evil ",
    "evil ",
    "$((x))",
    "a[$(evil)]",
    "'a[$(evil)]'",
    "[[ -v ",
    "let ",
    "declare ",
    "alias ls=evil\n",
    "shopt -s expand_aliases\n",
    "ls ",
    "echo ",
  ],
];

const bashPath = spawnSync("bash", ["-c", "command -v bash"], { encoding: "utf8" }).stdout.trim();

test.skipIf(bashPath === "")(
  "what is allowed never runs the command that is not, in a real bash",
  { timeout: 120_000 },
  async () => {
    const dir = tempDir();
    const bin = join(dir, "bin");
    const marker = join(dir, "evil-ran");
    mkdirSync(bin);
    mkdirSync(join(dir, "work"));
    const program = (name: string, text: string) => {
      writeFileSync(join(bin, name), `#!${bashPath}\n${text}\n`);
      chmodSync(join(bin, name), 0o755);
    };
    program("evil", `: > '${marker}'`);
    for (const name of ["npm", "ls"]) program(name, ":");
    for (const name of ["bash", "sh", "env"]) {
      const path = execFileSync(bashPath, ["-c", `command -v ${name}`], { encoding: "utf8" }).trim();
      program(name, `exec ${path} "$@"`);
    }
    const places = { workDir: join(dir, "work"), homeDir: dir, harnessHome: join(dir, "home") };
    const strings = en.permission;
    const allow = ["bash(npm test:*)", "bash(ls:*)", "bash(echo:*)"].map((text) => parseRule(text, strings));
    const rules = { allow, ask: [], deny: [] };
    const line = fc.array(fc.constantFrom(...FRAGMENTS), { maxLength: 9 }).map((parts) => `npm test ${parts.join("")}`);
    let ran = 0;

    await fc.assert(
      fc.asyncProperty(line, async (text) => {
        const command = await parseCommand(text, places);
        const facts = { name: "bash", kind: "execute", permission: "high", command } as const;
        const { decision } = decide(facts, { mode: "auto-edit", rules, guard: true, places, strings });
        if (decision !== "allow") return;
        ran += 1;
        spawnSync(bashPath, ["-c", text], {
          cwd: places.workDir,
          env: { PATH: bin, HOME: dir },
          timeout: 5000,
          stdio: "ignore",
        });
        const isBroken = existsSync(marker);
        rmSync(marker, { force: true });
        expect(isBroken).toBe(false);
      }),
      { numRuns: RUNS },
    );
    expect(ran).toBeGreaterThan(RUNS / 100);
  },
);
