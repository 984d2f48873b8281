// biome-ignore-all lint/suspicious/noTemplateCurlyInString: shell text
import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
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

// What may turn a look into something else: names, options, paths, globs, and all that changes what a name means.
const LOOKS: readonly string[] = [
  ..."ls cat grep head sort uniq find diff wc echo printf test tr cut sed tree jq date xxd cd rg fd file".split(" "),
  ...[
    "-n ",
    "-r ",
    "-o f ",
    "-of ",
    "--output=f ",
    "-exec evil {} + ",
    "-delete ",
    "-fprint f ",
    "-s ",
    "-i ",
    "-x evil ",
  ],
  ...[
    "-v PATH ",
    "PATH=. ",
    "PATH=.;",
    "for PATH in . bad; do ",
    "((PATH=7));",
    "{PATH}>/dev/null ",
    "{PATH}</dev/null ",
  ],
  ...[
    "; ",
    " && ",
    " | ",
    " || ",
    " & ",
    "\n",
    "$(evil)",
    "`evil`",
    "<(evil)",
    ">(evil)",
    "'",
    '"',
    "(",
    ")",
    "{ ",
    "; }",
  ],
  ...["> f ", ">> f ", "< a.txt ", "<<< x ", "2>&1 ", "&> f ", ">| a.txt ", "<> f ", "2>/dev/null ", "<<E\n", "\nE\n"],
  ...[
    "* ",
    "*.txt ",
    "a* ",
    "-- ",
    "sub/* ",
    ". ",
    "a.txt ",
    "b ",
    "'1,3p' ",
    "'s/a/evil/e' ",
    "sub ",
    "../out ",
    "../* ",
  ],
  ...[
    "ls() { evil; };",
    "if ",
    "then ",
    "fi ",
    "do ",
    "done ",
    "evil ",
    "sh -c ",
    "xargs ",
    "command ",
    "timeout 5 ",
    "time ",
  ],
  ...[
    "alias ls=evil;",
    "export ",
    "set -- ",
    "shopt -s expand_aliases;",
    "eval ",
    "exec ",
    "trap evil EXIT;",
    "\\\n",
    "~ ",
    "$x ",
  ],
];

test.skipIf(bashPath === "")(
  "what runs in plan mode changes no file and reads none outside, in a real bash",
  { timeout: 120_000 },
  async () => {
    const root = tempDir();
    const workDir = join(root, "work");
    const files: Readonly<Record<string, string>> = {
      "work/a.txt": "inside\n",
      "work/b": "b\n",
      "work/sub/c.txt": "c\n",
      "work/-delete": "",
      "work/-exec": "",
      "work/--compress-program=evil": "",
      "work/-of": "",
      "out/o.txt": "OUTSIDE-TEXT\n",
    };
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    symlinkSync("../../out/o.txt", join(workDir, "sub", "link.txt"));
    // Found where PATH has become a folder of the project.
    const evil = `#!${bashPath}\n: > '${root}/evil-ran'\n`;
    for (const folder of [".", "7", "bad"])
      for (const name of ["ls", "cat", "head", "sort", "evil"]) {
        mkdirSync(join(workDir, folder), { recursive: true });
        writeFileSync(join(workDir, folder, name), evil, { mode: 0o755 });
      }
    const tree = () => readdirSync(root, { recursive: true }).toSorted();
    const before = tree();
    const places = { workDir, homeDir: root, harnessHome: join(root, "home") };
    const parts = fc.array(fc.constantFrom(...LOOKS), { minLength: 1, maxLength: 8 });
    const start = fc.constantFrom("ls ", "cat ", "sort ", "find . ", "echo ", "printf ", "grep x ", "cd sub && ", "");
    const line = fc.tuple(start, parts).map(([first, rest]) => first + rest.join(" ").replaceAll("  ", " "));
    let ran = 0;

    await fc.assert(
      fc.asyncProperty(line, async (text) => {
        const command = await parseCommand(text, places);
        const facts = { name: "bash", kind: "execute", permission: "high", command } as const;
        const rules = { allow: [], ask: [], deny: [] };
        const { decision } = decide(facts, { mode: "plan", rules, guard: true, places, strings: en.permission });
        if (decision !== "allow") return;
        ran += 1;
        const { stdout } = spawnSync(bashPath, ["-c", text], {
          cwd: workDir,
          env: { PATH: process.env["PATH"], HOME: root },
          timeout: 5000,
          stdio: ["ignore", "pipe", "ignore"],
          encoding: "utf8",
        });
        expect(stdout).not.toContain("OUTSIDE-TEXT");
        expect(tree()).toEqual(before);
        for (const [path, content] of Object.entries(files))
          expect(readFileSync(join(root, path), "utf8")).toBe(content);
      }),
      { numRuns: 2 * RUNS },
    );
    expect(ran).toBeGreaterThan(RUNS / 100);
  },
);
