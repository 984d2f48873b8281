import { execFileSync, spawnSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { isPlainGitConfig, readGitConfig } from "../../src/permissions/git-config.ts";
import { holdsNoRepository } from "../../src/permissions/git-index.ts";
import { plainRepositoryCheck } from "../../src/permissions/plain-repository.ts";
import { decide } from "../../src/permissions/policy.ts";
import { parseCommand } from "../../src/permissions/shell-command.ts";
import { en } from "../../src/text/en.ts";
import { tempDir } from "../helpers/temp-dir.ts";

const HAS_GIT = spawnSync("git", ["--version"]).status === 0;
const EVERYTHING = { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null", GIT_TERMINAL_PROMPT: "0" };

const put = (path: string, text: string): void => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
};

type Repository = {
  readonly dir: string;
  readonly marker: string;
  readonly git: (...args: readonly string[]) => void;
  /** What the policy of the mode ask says of a command line, in an untrusted folder. */
  readonly judge: (line: string) => Promise<string>;
  readonly isPlain: () => boolean;
};

let template = "";
beforeAll(() => {
  if (!HAS_GIT) return;
  // Not `tempDir`: it would go with the first test.
  template = execFileSync("mktemp", ["-d"], { encoding: "utf8" }).trim();
  const git = (...args: string[]) =>
    execFileSync("git", ["-C", template, ...args], { stdio: "ignore", env: { ...process.env, ...EVERYTHING } });
  git("init", "-q", "-b", "main");
  put(join(template, "a.txt"), "one\n");
  put(join(template, "sub/b.txt"), "two\n");
  git("config", "user.name", "Me");
  git("config", "user.email", "me@example.org");
  git("remote", "add", "origin", "https://example.org/x.git");
  git("config", "branch.main.remote", "origin");
  git("add", ".");
  git("commit", "-q", "-m", "first");
  return () => rmSync(template, { recursive: true, force: true });
});

const repository = (): Repository => {
  const root = tempDir();
  const dir = join(root, "work");
  cpSync(template, dir, { recursive: true });
  const marker = join(root, "ran");
  const places = { workDir: dir, homeDir: join(root, "home"), harnessHome: join(root, "home/.harness9") };
  const isPlain = plainRepositoryCheck(dir);
  const judge = async (line: string) => {
    const command = await parseCommand(line, places);
    const facts = { name: "bash", kind: "execute", permission: "high", command } as const;
    const rules = { allow: [], ask: [], deny: [] };
    const options = {
      mode: "ask",
      rules,
      guard: true,
      places,
      plainRepository: isPlain,
      strings: en.permission,
    } as const;
    return decide(facts, options).decision;
  };
  const git = (...args: readonly string[]) =>
    void execFileSync("git", ["-C", dir, ...args], { stdio: "ignore", env: { ...process.env, ...EVERYTHING } });
  return { dir, marker, git, judge, isPlain };
};

const LOOKS = [
  "git status",
  "git status -sb",
  "git diff",
  "git diff HEAD",
  "git diff --stat",
  "git log -p -2",
  "git show HEAD",
  "git blame a.txt",
  "git branch -a",
  "git stash list",
  "git ls-files -m",
  "git grep one",
  "git describe --always --dirty",
  "git remote -v",
  "git rev-parse --show-toplevel",
  "git cat-file -p HEAD:a.txt",
];

describe.skipIf(!HAS_GIT)("an ordinary repository that nobody has trusted", () => {
  test("git may look, started in the work directory itself", async () => {
    const { judge, dir } = repository();
    for (const line of [...LOOKS, `cd ${dir} && git status`, "git status | head -3", "git log && ls"])
      expect([line, await judge(line)]).toEqual([line, "allow"]);
  });

  test.each([
    "git -C sub status",
    "git -C . status",
    "cd sub && git status",
    "(cd sub; git status)",
    "cd sub; cd ..; git status",
    "pushd sub && git log",
    "git --git-dir=x status",
    "git -c core.fsmonitor=x status",
    "git commit -m x",
    "git fetch",
    "GIT_DIR=x git status",
    "git diff --ext-diff",
    "git log --textconv",
  ])("%s is asked", async (line) => expect(await repository().judge(line)).toBe("ask"));

  test("a folder below its root is as good", async () => {
    const { dir } = repository();
    expect([plainRepositoryCheck(join(dir, "sub"))(), plainRepositoryCheck(dir)()]).toEqual([true, true]);
  });

  test("so is one without a commit", () => {
    const dir = tempDir();
    execFileSync("git", ["-C", dir, "init", "-q"], { stdio: "ignore" });
    expect(plainRepositoryCheck(dir)()).toBe(true);
  });

  test("no repository, or a broken one, is none", () => {
    const dir = tempDir();
    expect(plainRepositoryCheck(dir)()).toBe(false);
    mkdirSync(join(dir, ".git"));
    expect(plainRepositoryCheck(dir)()).toBe(false);
  });

  test("what changes it while the session goes on is seen, whatever the file's time says", () => {
    const { dir, isPlain, git } = repository();
    const config = join(dir, ".git/config");
    const before = readFileSync(config, "utf8");
    expect(isPlain()).toBe(true);
    git("config", "core.fsmonitor", "touch x");
    expect(isPlain()).toBe(false);
    writeFileSync(config, before);
    expect(isPlain()).toBe(true);
    const time = new Date(0);
    utimesSync(config, time, time);
    expect(isPlain()).toBe(true);
    writeFileSync(config, before.replace("filemode = true", "editor   = true"));
    utimesSync(config, time, time);
    expect(isPlain()).toBe(false);
  });
});

/** Ways for a repository to have git run a program: each would make the marker with a command that only looks. */
const ATTACKS: Readonly<Record<string, (repository: Repository, touch: string) => void>> = {
  fsmonitor: ({ git }, touch) => git("config", "core.fsmonitor", touch),
  "diff.external": ({ git }, touch) => git("config", "diff.external", touch),
  textconv: ({ dir, git }, touch) => {
    put(join(dir, ".gitattributes"), "*.txt diff=evil\n");
    git("config", "diff.evil.textconv", touch);
  },
  "diff command": ({ dir, git }, touch) => {
    put(join(dir, ".git/info/attributes"), "*.txt diff=evil\n");
    git("config", "diff.evil.command", touch);
  },
  filter: ({ dir, git }, touch) => {
    put(join(dir, ".gitattributes"), "*.txt filter=evil\n");
    git("config", "filter.evil.clean", touch);
  },
  "filter process": ({ dir, git }, touch) => {
    put(join(dir, ".gitattributes"), "*.txt filter=evil\n");
    git("config", "filter.evil.process", touch);
  },
  pager: ({ git }, touch) => git("config", "core.pager", touch),
  "pager of a command": ({ git }, touch) => git("config", "pager.log", touch),
  alias: ({ git }, touch) => git("config", "alias.status", `!${touch}`),
  hooksPath: ({ dir, git }, touch) => {
    put(join(dir, "hooks/post-index-change"), `#!/bin/sh\n${touch}\n`);
    chmodSync(join(dir, "hooks/post-index-change"), 0o755);
    git("config", "core.hooksPath", "hooks");
  },
  "a hook": ({ dir }, touch) => {
    put(join(dir, ".git/hooks/post-index-change"), `#!/bin/sh\n${touch}\n`);
    chmodSync(join(dir, ".git/hooks/post-index-change"), 0o755);
  },
  "a folder of hooks elsewhere": ({ dir }, touch) => {
    put(join(dir, "hooks/post-index-change"), `#!/bin/sh\n${touch}\n`);
    chmodSync(join(dir, "hooks/post-index-change"), 0o755);
    rmSync(join(dir, ".git/hooks"), { recursive: true, force: true });
    symlinkSync("../hooks", join(dir, ".git/hooks"));
  },
  "include.path": ({ dir, git }, touch) => {
    put(join(dir, "evil"), `[core]\n\tfsmonitor = ${touch}\n`);
    git("config", "include.path", "../evil");
  },
  includeIf: ({ dir, git }, touch) => {
    put(join(dir, "evil"), `[core]\n\tfsmonitor = ${touch}\n`);
    git("config", "includeIf.gitdir:**.path", "../evil");
  },
  sshCommand: ({ git }, touch) => git("config", "core.sshCommand", touch),
  gpg: ({ git }, touch) => {
    git("config", "gpg.program", touch);
    git("config", "log.showSignature", "true");
  },
  "credential helper": ({ git }, touch) => git("config", "credential.helper", `!${touch}`),
  editor: ({ git }, touch) => git("config", "core.editor", touch),
  "partial clone": ({ git }, touch) => {
    git("config", "core.repositoryformatversion", "1");
    git("config", "extensions.partialClone", "origin");
    git("config", "remote.origin.url", `ext::sh -c "${touch}"`);
  },
  "a configuration for the work tree": ({ dir, git }, touch) => {
    git("config", "extensions.worktreeConfig", "true");
    put(join(dir, ".git/config.worktree"), `[core]\n\tfsmonitor = ${touch}\n`);
  },
  "a common folder": ({ dir }, touch) => {
    cpSync(join(dir, ".git"), join(dir, "common"), { recursive: true });
    appendFileSync(join(dir, "common/config"), `[core]\n\tfsmonitor = ${touch}\n`);
    writeFileSync(join(dir, ".git/commondir"), "../common\n");
  },
  "a submodule's own configuration": ({ dir, git }, touch) => {
    const inner = join(dir, "inner");
    cpSync(join(dir, ".git"), join(inner, ".git"), { recursive: true });
    put(join(inner, "a.txt"), "changed\n");
    git("-C", inner, "config", "core.fsmonitor", touch);
    git("-c", "core.fsmonitor=false", "add", "inner");
  },
  "an embedded bare repository": ({ dir }, touch) => {
    cpSync(join(dir, ".git"), join(dir, "x"), { recursive: true });
    rmSync(join(dir, ".git"), { recursive: true });
    for (const name of ["HEAD", "objects", "refs", "config", "index"])
      renameSync(join(dir, "x", name), join(dir, name));
    writeFileSync(join(dir, "config"), `[core]\n\tbare = false\n\tworktree = .\n\tfsmonitor = ${touch}\n`);
  },
  "a bare repository behind a broken one": ({ dir }, touch) => {
    cpSync(join(dir, ".git"), join(dir, "x"), { recursive: true });
    for (const name of ["HEAD", "objects", "refs", "config", "index"])
      renameSync(join(dir, "x", name), join(dir, name));
    writeFileSync(join(dir, "config"), `[core]\n\tbare = false\n\tworktree = .\n\tfsmonitor = ${touch}\n`);
    rmSync(join(dir, ".git/refs"), { recursive: true });
  },
  "a .git file into the tree": ({ dir }, touch) => {
    renameSync(join(dir, ".git"), join(dir, "evil"));
    appendFileSync(join(dir, "evil/config"), `[core]\n\tfsmonitor = ${touch}\n`);
    writeFileSync(join(dir, ".git"), "gitdir: evil\n");
  },
  "a .git link into the tree": ({ dir }, touch) => {
    renameSync(join(dir, ".git"), join(dir, "evil"));
    appendFileSync(join(dir, "evil/config"), `[core]\n\tfsmonitor = ${touch}\n`);
    symlinkSync("evil", join(dir, ".git"));
  },
  "a key behind its section": ({ dir }, touch) =>
    appendFileSync(join(dir, ".git/config"), `[core] fsmonitor = ${touch}\n`),
  "a continued line": ({ dir }, touch) =>
    appendFileSync(join(dir, ".git/config"), `[core]\n\tfsmon\\\nitor = ${touch}\n`),
  "a continued comment": ({ dir }, touch) =>
    appendFileSync(join(dir, ".git/config"), `[user]\n\tname = x \\\n[core]\n\tfsmonitor = ${touch}\n`),
  "another case": ({ dir }, touch) => appendFileSync(join(dir, ".git/config"), `[CORE]\n\tFSMonitor = ${touch}\n`),
  "objects elsewhere": ({ dir }) => put(join(dir, ".git/objects/info/alternates"), "/\n"),
};

describe.skipIf(!HAS_GIT)("a repository that would have git run something", () => {
  test.each(Object.keys(ATTACKS))("%s: git is asked about, and what is not asked runs nothing", async (name) => {
    const made = repository();
    const { dir, marker } = made;
    writeFileSync(join(dir, "a.txt"), "changed\n");
    ATTACKS[name]?.(made, `touch '${marker}'`);
    rmSync(marker, { force: true });
    for (const line of LOOKS) {
      if ((await made.judge(line)) !== "allow") continue;
      spawnSync("bash", ["-c", line], {
        cwd: dir,
        env: { ...process.env, ...EVERYTHING, PAGER: "cat" },
        stdio: "ignore",
      });
    }
    expect([made.isPlain(), existsSync(marker)]).toEqual([false, false]);
  });

  test("several of them do run when git is let loose: the fixtures are real", () => {
    const names = [
      "fsmonitor",
      "diff.external",
      "textconv",
      "filter",
      "a hook",
      "a submodule's own configuration",
      "a common folder",
      "another case",
    ];
    const ran = names.filter((name) => {
      const made = repository();
      writeFileSync(join(made.dir, "a.txt"), "changed\n");
      ATTACKS[name]?.(made, `touch '${made.marker}'`);
      rmSync(made.marker, { force: true });
      for (const args of [["status"], ["diff"]])
        spawnSync("git", args, { cwd: made.dir, env: { ...process.env, ...EVERYTHING }, stdio: "ignore" });
      return existsSync(made.marker);
    });
    expect(ran).toEqual(names);
  });
});

describe("the configuration", () => {
  test.each<[string, boolean]>([
    ["", true],
    ["# only\n; comments\n", true],
    ["[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n", true],
    ["[core]\r\n\tautocrlf = input\r\n", true],
    ['[remote "origin"]\n\turl = git@example.org:x.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n', true],
    ['[branch "feature/x"]\n\tremote = origin\n\tmerge = refs/heads/x # mine\n', true],
    ["[core]\n\tignorecase\n", true],
    ["[core]\n\tbare\n", false],
    ["[core]\n\tbare = true\n", false],
    ["[core]\n\trepositoryformatversion = 1\n", false],
    ["[core]\n\tworktree = ..\n", false],
    ["[core]\n\tfsmonitor = true\n", false],
    ["[core]\n\tattributesfile = x\n", false],
    ['[core "x"]\n\tfilemode = true\n', true],
    ["[core]filemode = true\n", false],
    ["filemode = true\n", false],
    ["[core.x]\n\tfilemode = true\n", false],
    ['[remote "a\\"b"]\n\turl = x\n', false],
    ['[user]\n\tname = "a"\n', false],
    ["[user]\n\tname = a\\\n", false],
    ["[user]\n\tname = a\u0000b\n", false],
    ["\ufeff[user]\n\tname = a\n", false],
    ["[user]\r\tname = a\n", false],
    ["[user]\n\tname = a\u000bb\n", false],
    ["[include]\n\tpath = x\n", false],
    ['[remote "o"]\n\tpromisor = true\n', false],
    ['[remote "o"]\n\tuploadpack = x\n', false],
    ['[submodule "x"]\n\tactive = true\n', false],
    ["[alias]\n\tst = status\n", false],
    ["[lfs]\n\trepositoryformatversion = 0\n", true],
    ["[lfs]\n\tstandalonetransferagent = x\n", false],
  ])("%j is plain: %s", (text, isPlain) => expect(isPlainGitConfig(text)).toBe(isPlain));

  test.skipIf(!HAS_GIT)("what is read is what git reads", () => {
    const file = join(tempDir(), "config");
    const piece = fc.constantFrom(
      ...'[core]|[user]|[CORE]|[remote "o"]|[ core ]|[a.b]|\tname = x|filemode|fsmonitor = touch x|bare=false|pager = a # b|= y|key = "q"|key = a\\|# c|; d| \\|]|[|x = [core]|url = a]b|\u000b|é = 1|x=é'.split(
        "|",
      ),
    );
    const text = fc
      .array(fc.tuple(piece, fc.constantFrom("\n", "\n", "\n", "\r\n", " ", "\t", "")), { maxLength: 8 })
      .map((parts) => parts.flat().join(""));
    fc.assert(
      fc.property(text, (content) => {
        const settings = readGitConfig(content);
        if (settings === null) return;
        writeFileSync(file, content);
        const { stdout, status } = spawnSync("git", ["config", "-f", file, "--list", "--name-only"], {
          encoding: "utf8",
        });
        expect(status).toBe(0);
        const names = stdout.split("\n").filter((name) => name !== "");
        expect(settings.map(({ key }) => key)).toEqual(
          names.map((name) => name.replace(/^([^.]+)\..*\.([^.]+)$/s, "$1.$2")),
        );
      }),
      { numRuns: 150 },
    );
  });
});

describe.skipIf(!HAS_GIT)("the index", () => {
  const indexOf = (change: (repository: Repository) => void): boolean => {
    const made = repository();
    change(made);
    return holdsNoRepository(readFileSync(join(made.dir, ".git/index")));
  };

  test("files of all lengths and modes are told from repositories, and what is not understood is not trusted", () => {
    expect(indexOf(() => undefined)).toBe(true);
    expect(
      indexOf(({ dir, git }) => {
        for (let length = 1; length < 40; length += 1) put(join(dir, "n", "x".repeat(length)), `${length}`);
        symlinkSync("a.txt", join(dir, "link"));
        git("add", ".");
        git("add", "-N", "a.txt");
        const blob = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391";
        for (const length of [4094, 4095, 4096, 5000])
          git(
            "update-index",
            "--add",
            "--cacheinfo",
            `100644,${blob},${"y/".repeat(length / 2)}${"z".repeat(length % 2 || 2)}`,
          );
      }),
    ).toBe(true);
    const head = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
    expect(indexOf(({ git }) => git("update-index", "--add", "--cacheinfo", `160000,${head},m`))).toBe(false);
    expect(indexOf(({ git }) => git("update-index", "--split-index"))).toBe(false);
    expect(indexOf(({ git }) => git("update-index", "--index-version", "4"))).toBe(false);
    expect(holdsNoRepository(Buffer.from("DIRC"))).toBe(false);
  });

  test("a cut or changed index never throws", () => {
    const made = repository();
    const whole = readFileSync(join(made.dir, ".git/index"));
    fc.assert(
      fc.property(fc.nat(whole.length), fc.nat(whole.length - 1), fc.nat(255), (length, at, byte) => {
        const changed = Buffer.from(whole);
        changed[at] = byte;
        expect([true, false]).toContain(holdsNoRepository(changed.subarray(0, length)));
      }),
    );
  });
});
