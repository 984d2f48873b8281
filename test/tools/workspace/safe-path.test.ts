import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { zh } from "../../../src/text/zh.ts";
import { FileError } from "../../../src/tools/workspace/file-error.ts";
import { type PathUse, safePath } from "../../../src/tools/workspace/safe-path.ts";
import { createWorkspace, type WorkspaceOptions } from "../../../src/tools/workspace/workspace.ts";
import { tempDir } from "../../helpers/temp-dir.ts";

const setUp = (more: (root: string) => Partial<WorkspaceOptions> = () => ({})) => {
  const root = tempDir();
  const [work, home] = [join(root, "app"), join(root, "home")];
  for (const folder of [work, home, join(root, "app-evil")]) mkdirSync(folder);
  const options = { workDir: work, homeDir: home, harnessHome: join(home, ".harness9"), ...more(root) };
  const workspace = createWorkspace(options);
  const check = (path: string, use: PathUse = "read"): string => {
    try {
      return safePath({ workspace, strings: zh }, path, use);
    } catch (error) {
      if (error instanceof FileError) return error.kind;
      throw error;
    }
  };
  return { root, work, home, workspace, check };
};

const message = (workspace: ReturnType<typeof setUp>["workspace"], path: string): string => {
  try {
    return safePath({ workspace, strings: zh }, path, "write");
  } catch (error) {
    return String(error instanceof Error ? error.message : error);
  }
};

describe("by spelling", () => {
  it("what is inside is allowed, relative or absolute", () => {
    const { work, check } = setUp();
    const inside = ["src/main.go", "./README.md", "a/b/c.txt", "a/../b.txt", "..name", "a//b", join(work, "x.ts")];
    expect(inside.map((path) => relative(work, check(path)))).toEqual([
      "src/main.go",
      "README.md",
      "a/b/c.txt",
      "b.txt",
      "..name",
      "a/b",
      "x.ts",
    ]);
    expect([check("."), check(work)]).toEqual([work, work]);
  });

  it("what is outside is refused, also when its name begins like the work directory's", () => {
    const { root, check } = setUp();
    const outside = ["../x", "a/../../x", "./..//x", "a/b/../../../x", "..", "/etc/passwd", "/"];
    const similar = ["../app-evil/x", join(root, "app-evil", "x")];
    expect([...outside, ...similar].map((path) => check(path))).toEqual(Array(9).fill("outside"));
  });

  it("the sentences are the documents'", () => {
    const { workspace, home } = setUp();
    expect(message(workspace, "../x")).toBe("路径 '../x' 超出工作区范围");
    const key = join(home, ".ssh/id");
    expect(message(workspace, key)).toBe(`路径 '${key}' 是受保护的敏感路径，禁止访问`);
    expect(message(workspace, "../\u001b[2Jx\n")).toBe("路径 '../\\u{1b}[2Jx\\u{a}' 超出工作区范围");
  });

  it("nothing in a path is expanded", () => {
    const { work, check } = setUp();
    const literal = ["~/.ssh/id_rsa", "$HOME/.ssh/id_rsa", "%USERPROFILE%", "~root/x", "a\\..\\..\\x", "~"];
    expect(literal.map((path) => check(path))).toEqual(literal.map((path) => join(work, path)));
  });

  it("what no file can be named is refused", () => {
    const { check } = setUp();
    const bad = ["", "  ", "\n", "a.txt\0.png", "a\ud800b", "x".repeat(5000), "y".repeat(300), `${"a/".repeat(2100)}b`];
    expect(bad.map((path) => check(path))).toEqual(Array(8).fill("bad-path"));
    expect(check("é".repeat(128))).toBe("bad-path");
    expect(check("x".repeat(255))).not.toBe("bad-path");
  });

  it("a folder's spelling is no file to write", () => {
    const { check } = setUp();
    expect(check("new/", "write")).toBe("is-directory");
  });

  it("the root as work directory takes every path", () => {
    const { check } = setUp(() => ({ workDir: "/" }));
    expect([check("etc/hostname"), check("/etc/hostname"), check("../x")]).toEqual([
      "/etc/hostname",
      "/etc/hostname",
      "/x",
    ]);
  });
});

describe("sensitive places", () => {
  const names = [".ssh/id_rsa", ".aws/credentials", ".kube/config", ".gnupg/x", ".netrc", ".config/gcloud/x", ".ssh"];

  it("are refused by an absolute path, although they are outside anyway", () => {
    const { home, check } = setUp();
    expect(names.map((name) => check(join(home, name)))).toEqual(names.map(() => "sensitive"));
  });

  it("are refused inside, where home is the work directory", () => {
    const { check } = setUp((root) => ({ workDir: join(root, "home") }));
    expect(names.map((name) => check(name))).toEqual(names.map(() => "sensitive"));
    expect(
      ["x/../.ssh/id", ".SSH/id", ".harness9/config.json", ".harness9/trust.json"].map((name) => check(name)),
    ).toEqual(Array(4).fill("sensitive"));
    expect(check(".config/other")).toMatch(/other$/);
    expect(check(".sshx")).toMatch(/sshx$/);
  });

  it("are refused through a symlink, and where they are symlinks themselves", () => {
    const { work, home, root, check } = setUp((root) => {
      mkdirSync(join(root, "app", "keys"), { recursive: true });
      symlinkSync(join(root, "app", "keys"), join(root, "home", ".ssh"));
      return {};
    });
    symlinkSync(join(home, ".aws"), join(work, "cloud"));
    expect([check("cloud/credentials"), check("keys/id_rsa"), check(join(root, "home/.ssh/id"))]).toEqual(
      Array(3).fill("sensitive"),
    );
  });

  it("our own folder is closed but for what may be read", () => {
    const outputs = "home/.harness9/sessions/p/1.outputs";
    const { root, home, check } = setUp((root) => ({ readableDirs: [join(root, outputs)] }));
    const output = join(root, outputs, "call.txt");
    expect([check(output), check(output, "write"), check(join(home, ".harness9/.env"))]).toEqual([
      output,
      "sensitive",
      "sensitive",
    ]);
    expect(check(join(root, outputs, "../1.jsonl"))).toBe("sensitive");
  });
});

describe("what configures us or git", () => {
  it("our settings in a project are neither read nor written", () => {
    const { check } = setUp();
    for (const path of [".harness9/settings.json", ".harness9/settings.local.json", "sub/.harness9/settings.json"])
      expect([check(path), check(path, "write")]).toEqual(["sensitive", "sensitive"]);
  });

  it("the rest may be read and not written", () => {
    const { work, check } = setUp();
    const paths = [
      ".harness9/agents/x.md",
      ".mcp.json",
      ".git",
      ".git/config",
      ".GIT/config",
      ".git/hooks/pre-commit",
      ".git/objects/info/alternates",
      ".git/modules/sub/hooks/post-checkout",
      ".git/worktrees/w/config.worktree",
      "vendor/lib/.git/config",
    ];
    expect(paths.map((path) => check(path))).toEqual(paths.map((path) => join(work, path)));
    expect(paths.map((path) => check(path, "write"))).toEqual(paths.map(() => "protected"));
    expect(
      ["a.git/config", ".github/config", ".gitignore", ".git/info/exclude"].map((path) => check(path, "write")),
    ).toEqual(["a.git/config", ".github/config", ".gitignore", ".git/info/exclude"].map((path) => join(work, path)));
  });

  it("a symlink to a hook is the hook", () => {
    const { work, check } = setUp();
    symlinkSync(".git/hooks", join(work, "scripts"));
    expect(check("scripts/pre-commit", "write")).toBe("protected");
  });
});

describe("symlinks", () => {
  it("a link to a file or folder outside is refused, whether its target exists or not", () => {
    const { root, work, check } = setUp();
    writeFileSync(join(root, "victim.txt"), "v");
    symlinkSync("../victim.txt", join(work, "notes.md"));
    symlinkSync(join(root, "nowhere"), join(work, "dangling"));
    symlinkSync("/", join(work, "escape"));
    symlinkSync("dangling", join(work, "twice"));
    const paths = ["notes.md", "dangling", "dangling/new/deep/a.txt", "escape/tmp/x", "twice", "escape"];
    expect(paths.flatMap((path) => [check(path), check(path, "write")])).toEqual(Array(12).fill("outside"));
  });

  it("a link inside gives the path that it points to", () => {
    const { work, check } = setUp();
    mkdirSync(join(work, "real"));
    symlinkSync("real", join(work, "link"));
    symlinkSync("real/new.txt", join(work, "to-come"));
    expect([check("link/a.txt", "write"), check("to-come", "write")]).toEqual([
      join(work, "real/a.txt"),
      join(work, "real/new.txt"),
    ]);
  });

  it("links in a circle are an error", () => {
    const { work, check } = setUp();
    symlinkSync("b", join(work, "a"));
    symlinkSync("a", join(work, "b"));
    expect(check("a/x")).toBe("io");
  });

  it("a work directory that is reached through a link works by both names", () => {
    const { root, check, workspace } = setUp((root) => {
      symlinkSync(join(root, "app"), join(root, "alias"));
      return { workDir: join(root, "alias") };
    });
    const real = join(root, "app", "x");
    expect(workspace.workDir).toBe(join(root, "app"));
    expect([check("x"), check(join(root, "alias", "x")), check(real)]).toEqual([real, real, real]);
  });

  it("an added folder is a workspace too, and its links count as well", () => {
    const { root, check } = setUp((root) => {
      mkdirSync(join(root, "lib"));
      symlinkSync(root, join(root, "lib", "up"));
      return { addedDirs: [join(root, "lib")] };
    });
    expect(check(join(root, "lib", "a.ts"), "write")).toBe(join(root, "lib", "a.ts"));
    expect(check("../lib/a.ts", "write")).toBe(join(root, "lib", "a.ts"));
    expect(check("../lib/up/x", "write")).toBe("outside");
  });
});

it("whatever is asked, what comes out is inside or refused", () => {
  const { root, work, check } = setUp();
  mkdirSync(join(work, "d", "e"), { recursive: true });
  symlinkSync("..", join(work, "d", "up"));
  symlinkSync("../../..", join(work, "d", "e", "out"));
  symlinkSync(root, join(work, "root"));
  symlinkSync("missing/../../x", join(work, "odd"));
  const name = fc.constantFrom(
    "..",
    ".",
    "",
    "d",
    "e",
    "up",
    "out",
    "root",
    "odd",
    "app",
    "app-evil",
    "é",
    "~",
    "\u202e",
    "...",
  );
  const path = fc
    .tuple(fc.constantFrom("", "/", `${work}/`, `${root}/`, `${work}`), fc.array(name, { maxLength: 8 }))
    .map(([start, names]) => start + names.join("/"));
  fc.assert(
    fc.property(path, fc.constantFrom<PathUse>("read", "write"), (asked, use) => {
      const outcome = check(asked, use);
      if (!outcome.startsWith(sep)) return;
      expect(`${outcome}${sep}`.startsWith(`${work}${sep}`)).toBe(true);
    }),
    { numRuns: 2000 },
  );
});
