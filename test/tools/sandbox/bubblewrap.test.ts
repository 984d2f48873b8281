import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bubblewrapArguments } from "../../../src/tools/sandbox/bubblewrap.ts";
import type { SandboxPolicy } from "../../../src/tools/sandbox/sandbox.ts";
import { bubblewrapFor, HAS_BWRAP, policyFor, type SandboxPlace, sandboxPlace } from "../../helpers/sandbox.ts";

const POLICY: SandboxPolicy = {
  workDir: "/home/u/project",
  writable: ["/home/u/project", "/tmp"],
  readOnly: ["/home/u/project/.harness9"],
  hidden: ["/home/u/.ssh", "/home/u/.netrc", "/home/u/.absent"],
  visible: ["/home/u/.ssh/open"],
  network: "off",
};

test("a policy becomes mounts from the shallowest to the deepest, the most particular last", () => {
  const kindOf = (path: string) => (path.endsWith("absent") ? "missing" : path.endsWith(".netrc") ? "file" : "folder");
  const args = bubblewrapArguments({ policy: POLICY, kindOf, isRoot: false });
  expect(args.join(" ").replaceAll(" --", "\n--").split("\n")).toEqual([
    "--ro-bind / /",
    "--dev /dev",
    "--tmpfs /dev/shm",
    "--proc /proc",
    "--ro-bind-try /proc/sys /proc/sys",
    "--ro-bind-try /proc/sysrq-trigger /proc/sysrq-trigger",
    "--ro-bind-try /proc/irq /proc/irq",
    "--ro-bind-try /proc/bus /proc/bus",
    "--ro-bind-try /proc/fs /proc/fs",
    "--bind /tmp /tmp",
    "--bind /home/u/project /home/u/project",
    "--tmpfs /home/u/.ssh",
    "--ro-bind /dev/null /home/u/.netrc",
    "--ro-bind /home/u/project/.harness9 /home/u/project/.harness9",
    "--ro-bind /home/u/.ssh/open /home/u/.ssh/open",
    "--remount-ro /dev",
    "--remount-ro /home/u/.ssh",
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-net",
    "--cap-drop ALL",
    "--chdir /home/u/project",
    "--",
  ]);
});

const title = HAS_BWRAP ? "with bubblewrap" : "with bubblewrap (left out: it does not start on this machine)";

describe.skipIf(!HAS_BWRAP)(title, () => {
  const runIn = (
    place: SandboxPlace,
    script: string,
    options: Parameters<typeof policyFor>[1] = {},
    ...args: string[]
  ) => {
    const confined = bubblewrapFor(policyFor(place, options)).wrap("bash", ["-c", script, "bash", ...args]);
    const { status, stdout, stderr } = spawnSync(confined.file, confined.args, {
      encoding: "utf8",
      env: { PATH: process.env["PATH"], HOME: place.home, GIT_CONFIG_NOSYSTEM: "1" },
    });
    confined.release();
    return { status, output: stdout + stderr };
  };
  const git = (cwd: string, ...args: string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd, stdio: "pipe" });
  const COMMIT = "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m m && git log --oneline | wc -l";

  test("writes stay in the work directory, the added folders, the temp folders, the caches and what is named", () => {
    const place = sandboxPlace();
    for (const name of ["added", "temp", "named", "other", "home/.cache", "home/.npm/_cacache", "home/tool"])
      mkdirSync(join(place.root, name), { recursive: true });
    const { root, home, workDir } = place;
    const script = 'for place in "$@"; do touch "$place/made" 2>/dev/null; done';
    const folders = [root, home, workDir, ...["added", "temp", "named", "other"].map((name) => join(root, name))];
    const more = [".cache", ".npm", ".npm/_cacache", "tool"].map((name) => join(home, name));
    const options = {
      addedDirs: [join(root, "added")],
      tempDirs: [join(root, "temp"), "relative"],
      writable: [join(root, "named"), "~/tool", join(root, "not-there")],
    };
    runIn(place, script, options, ...folders, ...more, "/", "/dev", "/proc", "/sys", "/etc", "/usr");
    const made = [...folders, ...more].filter((folder) => existsSync(join(folder, "made")));
    expect(made).toEqual([
      workDir,
      join(root, "added"),
      join(root, "temp"),
      join(root, "named"),
      join(home, ".cache"),
      join(home, ".npm/_cacache"),
      join(home, "tool"),
    ]);
  });

  test("whatever a file is called, it can be made inside and not outside", () => {
    const name = fc
      .string({ unit: "binary", minLength: 1, maxLength: 40 })
      .filter((text) => !/[/\0]/.test(text) && ![".", ".."].includes(text) && !/\p{Cs}/u.test(text));
    fc.assert(
      fc.property(fc.array(name, { minLength: 1, maxLength: 4 }), name, (folders, file) => {
        const place = sandboxPlace();
        const project = { ...place, workDir: join(place.root, "names", ...folders) };
        mkdirSync(project.workDir, { recursive: true });
        const outside = join(dirname(project.workDir), "x");
        const script = 'touch "./$1"; touch "$2"; ln -s .. up; touch "up/y"; touch "$2/../$1-z"';
        runIn(project, script, {}, file, outside);
        expect(readdirSync(project.workDir).sort()).toEqual([file, "up"].sort());
        expect(readdirSync(dirname(project.workDir))).toEqual([basename(project.workDir)]);
      }),
      { numRuns: 15 },
    );
  });

  test("settings and hooks are read-only, and can neither be made nor moved away", () => {
    const place = sandboxPlace();
    git(place.workDir, "init", "-q");
    rmSync(join(place.workDir, ".git/hooks"), { recursive: true });
    const script = `mkdir -p .harness9/skills; touch .harness9/settings.json .git/hooks/pre-commit
mv .harness9 away; mv .git/hooks away; mv .git away; rm -rf .harness9 .git/hooks away; ln -s /tmp .harness9`;
    runIn(place, script);
    expect(readdirSync(place.workDir)).toEqual([".git"]);
    expect(existsSync(join(place.workDir, ".git/hooks"))).toBe(false);

    mkdirSync(join(place.workDir, ".harness9"));
    mkdirSync(join(place.workDir, ".git/hooks"));
    writeFileSync(join(place.workDir, ".harness9/settings.json"), "{}");
    writeFileSync(join(place.workDir, ".git/hooks/pre-commit"), "true");
    const { output } = runIn(place, `${script} 2>/dev/null; cat .harness9/settings.json .git/hooks/pre-commit`);
    expect(output).toContain("{}true");
    expect(readdirSync(join(place.workDir, ".harness9"))).toEqual(["settings.json"]);
    expect(readdirSync(join(place.workDir, ".git/hooks"))).toEqual(["pre-commit"]);
  });

  test("hidden places are empty, also by a link, and the session's outputs can be read", () => {
    const place = sandboxPlace();
    const { home, root } = place;
    const outputs = join(home, ".harness9/sessions/p/s.outputs");
    for (const folder of [outputs, join(root, "keys"), join(home, ".config/gcloud")])
      mkdirSync(folder, { recursive: true });
    symlinkSync(join(root, "keys"), join(home, ".ssh"));
    writeFileSync(join(root, "keys/id"), "SECRET");
    writeFileSync(join(home, ".config/gcloud/key"), "SECRET");
    writeFileSync(join(home, ".netrc"), "SECRET");
    writeFileSync(join(home, ".harness9/.env"), "SECRET");
    writeFileSync(join(outputs, "call.txt"), "output");
    const script = `cat ~/.ssh/id ~/.netrc ~/.config/gcloud/key ~/.harness9/.env ${join(root, "keys/id")}
grep -r SECRET ${root} --exclude=nothing; touch ~/.ssh/x ~/.harness9/x ${outputs}/x; ls -A ~/.harness9
cat ${outputs}/call.txt`;
    const { output } = runIn(place, script, { readableDirs: [outputs] });
    expect(output).not.toContain("SECRET\n");
    expect(output.split("\n").filter((line) => line.includes("SECRET"))).toEqual([]);
    expect(output).toMatch(/^sessions\noutput/m);
    expect([readdirSync(join(root, "keys")), readdirSync(outputs)]).toEqual([["id"], ["call.txt"]]);
  });

  test("in a work directory that is the home, hidden places can neither be read nor made, and nothing stays of them", () => {
    const place = sandboxPlace();
    const atHome = { ...place, workDir: place.home };
    mkdirSync(join(place.home, ".aws"));
    writeFileSync(join(place.home, ".aws/credentials"), "SECRET");
    const { output } = runIn(
      atHome,
      "cat .aws/credentials; mkdir -p .ssh .kube/x; touch .ssh/authorized_keys .netrc/x .aws/x; echo x >.netrc; touch mine",
    );
    expect(output).not.toContain("SECRET");
    expect(readdirSync(place.home).sort()).toEqual([".aws", "mine", "project"]);
    expect(readdirSync(join(place.home, ".aws"))).toEqual(["credentials"]);
  });

  test("a work directory below a hidden place can be worked in", () => {
    const place = sandboxPlace();
    const inner = { ...place, workDir: join(place.home, ".ssh/project") };
    mkdirSync(inner.workDir, { recursive: true });
    writeFileSync(join(place.home, ".ssh/id"), "SECRET");
    expect(runIn(inner, "touch made; ls -A ..; pwd").output).toBe(`project\n${inner.workDir}\n`);
    expect(readdirSync(inner.workDir)).toEqual(["made"]);
  });

  test("git works in a repository, from its folders, in a work tree and in a submodule; hooks stay closed", () => {
    const { root, home } = sandboxPlace();
    const main = join(home, "main");
    mkdirSync(join(main, "packages/a"), { recursive: true });
    git(main, "init", "-q");
    git(main, "commit", "-q", "--allow-empty", "-m", "first");
    git(main, "worktree", "add", "-q", join(home, "tree"));
    git(main, "-c", "protocol.file.allow=always", "submodule", "add", "-q", main, "sub");
    const places = [
      [main, "2"],
      [join(main, "packages/a"), "3"],
      [join(home, "tree"), "2"],
      [join(main, "sub"), "2"],
    ] as const;
    for (const [workDir, commits] of places) {
      const { output, status } = runIn(
        { root, home, workDir },
        `${COMMIT}; git config user.name b && git remote add r$RANDOM x`,
      );
      expect([workDir, status, output.trim()]).toEqual([workDir, 0, commits]);
      const hook = `touch "$(git rev-parse --git-common-dir)/hooks/pre-commit"`;
      expect(runIn({ root, home, workDir }, hook).output).toContain("Read-only file system");
    }
  });

  test("a .git that a command has written opens no other place", () => {
    const place = sandboxPlace();
    const other = join(place.home, "other");
    mkdirSync(join(other, ".git/worktrees/x"), { recursive: true });
    writeFileSync(join(other, ".git/worktrees/x/gitdir"), "/somewhere/else/.git\n");
    const fake = join(place.root, "fake/worktrees/x");
    mkdirSync(fake, { recursive: true });
    writeFileSync(join(fake, "gitdir"), "/somewhere/else/.git\n");
    for (const target of [`${other}/.git/worktrees/x`, `${other}/.git`, place.home, fake, "../other", "\n"]) {
      writeFileSync(join(place.workDir, ".git"), `gitdir: ${target}\n`);
      runIn(place, 'touch "$1/made" "$2/made" ~/made', {}, other, join(other, ".git"));
    }
    rmSync(join(place.workDir, ".git"));
    symlinkSync(join(other, ".git"), join(place.workDir, ".git"));
    runIn(place, "touch .git/made");
    expect([readdirSync(other), readdirSync(join(other, ".git")), readdirSync(place.home).sort()]).toEqual([
      [".git"],
      ["worktrees"],
      ["other", "project"],
    ]);
  });

  test("a .git that a command has written does not open the hooks above, and one that is a link keeps its hooks", () => {
    const place = sandboxPlace();
    const { home, workDir } = place;
    git(home, "init", "-q");
    for (const target of ["../.git/hooks", "../.git/modules/x", "../.git"]) {
      writeFileSync(join(workDir, ".git"), `gitdir: ${target}\n`);
      runIn(place, "touch ../.git/hooks/pre-commit");
    }
    rmSync(join(workDir, ".git"));
    git(workDir, "init", "-q", "--separate-git-dir", "real");
    rmSync(join(workDir, ".git"));
    symlinkSync("real", join(workDir, ".git"));
    expect(runIn(place, `touch real/hooks/pre-commit; ${COMMIT}`).output).toMatch(/^1\n.*Read-only/s);
    expect(existsSync(join(home, ".git/hooks/pre-commit"))).toBe(false);
    expect(existsSync(join(workDir, "real/hooks/pre-commit"))).toBe(false);
  });

  test.each(["worktrees/p", "worktrees"])("a work directory called %s does not open the folder above", (name) => {
    const place = sandboxPlace();
    const inner = { ...place, workDir: join(place.home, name) };
    mkdirSync(inner.workDir, { recursive: true });
    runIn(
      inner,
      "mkdir p; for at in . p; do echo .git >$at/gitdir; echo ../.git >p/gitdir; echo gitdir: $at >.git; done",
    );
    runIn(inner, "echo gitdir: . >.git; touch ../made ../../made");
    runIn(inner, "touch ../made ../../made");
    expect(readdirSync(place.home).sort()).toEqual(["project", "worktrees"]);
  });

  test("what may be written is settled before the first command: no link of a command's makes it more", () => {
    const place = sandboxPlace();
    const temp = join(place.root, "temp");
    const other = join(place.home, "other");
    for (const folder of [temp, other]) mkdirSync(folder);
    const sandbox = bubblewrapFor(policyFor(place, { tempDirs: [temp, join(temp, "mine")], writable: ["build"] }));
    const run = (script: string) => {
      const { file, args, release } = sandbox.wrap("bash", ["-c", script, "bash", temp, other]);
      const { stdout, stderr } = spawnSync(file, args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
      release();
      return stdout + stderr;
    };
    expect(run('ln -s "$2" build; ln -s ../home/other "$1/mine"')).toBe("");
    expect(run('touch "$2/made"')).toContain("Read-only file system");
    expect(readdirSync(other)).toEqual([]);
  });

  test("the folders above a work directory in temp cannot be moved away, nor those above a hidden place", () => {
    const place = sandboxPlace();
    const inner = { ...place, workDir: join(place.root, "temp/a/b/docs") };
    mkdirSync(inner.workDir, { recursive: true });
    const move = 'cd "$1/temp"; mv a c; mv a/b a/c; mv a/b/docs a/b/x';
    const { output } = runIn(inner, move, { tempDirs: [join(place.root, "temp")] }, place.root);
    expect(output.match(/resource busy/g)).toHaveLength(3);
    mkdirSync(join(place.home, ".config/gcloud"), { recursive: true });
    writeFileSync(join(place.home, ".config/other"), "");
    const atHome = { ...place, workDir: place.home };
    expect(runIn(atHome, "mv .config/other . && mv .config moved").output).toContain("resource busy");
    expect(readdirSync(place.home).sort()).toEqual([".config", "other", "project"]);
  });

  test("no link in a repository opens a hidden place", () => {
    const place = sandboxPlace();
    mkdirSync(join(place.home, ".ssh/keys"), { recursive: true });
    writeFileSync(join(place.home, ".ssh/keys/id"), "SECRET");
    for (const target of ["../../.ssh/keys", "../../.ssh/keys/id"]) {
      runIn(place, `git init -q; rm -rf .git/hooks; ln -s ${target} .git/hooks`);
      expect(runIn(place, "cat ../.ssh/keys/id .git/hooks .git/hooks/id").output).not.toContain("SECRET");
    }
    const atHome = { ...place, workDir: place.home };
    runIn(atHome, "ln -s .ssh/keys .git");
    expect(runIn(atHome, "cat .ssh/keys/id .git/id").output).not.toContain("SECRET");
  });

  test("what a living command could swap for a link is not mounted by its path", () => {
    const place = sandboxPlace();
    const sandbox = bubblewrapFor(policyFor(place));
    const dotGit = join(place.workDir, ".git");
    const mountsOfGit = () => {
      const { args, release } = sandbox.wrap("true", []);
      const found = args.flatMap((arg, index) => (arg.startsWith(dotGit) ? [`${args[index - 1]} ${arg}`] : []));
      return { release, found: found.map((mount) => mount.replaceAll(dotGit, ".git")) };
    };
    const early = mountsOfGit();
    mkdirSync(dotGit);
    const late = mountsOfGit();
    early.release();
    late.release();
    const alone = mountsOfGit();
    const beside = mountsOfGit();
    const own = ["--bind .git", ".git .git"];
    const hooks = ["--ro-bind .git/hooks", ".git/hooks .git/hooks"];
    expect([early.found, late.found, alone.found, beside.found]).toEqual([
      [],
      ["--tmpfs .git/hooks", "--remount-ro .git/hooks"],
      [...own, ...hooks],
      [...own, ...hooks],
    ]);
    alone.release();
    beside.release();
  });

  test("git works in an added folder as in the work directory, and its hooks stay closed", () => {
    const place = sandboxPlace();
    const main = join(place.home, "main");
    mkdirSync(main);
    git(main, "init", "-q");
    git(main, "commit", "-q", "--allow-empty", "-m", "first");
    git(main, "worktree", "add", "-q", join(place.home, "tree"));
    const options = { addedDirs: [join(place.home, "tree")] };
    expect(runIn(place, `cd ../tree; ${COMMIT}`, options).output).toBe("2\n");
    expect(runIn(place, "touch ../main/.git/hooks/pre-commit", options).output).toContain("Read-only file system");
    expect(runIn(place, "touch .git/hooks/pre-commit", { addedDirs: [main] }).output).not.toBe("");
    expect(runIn(place, "touch ../main/.git/hooks/pre-commit", { addedDirs: [main] }).output).toContain("Read-only");
  });

  test("a repository that is itself the work directory keeps its hooks", () => {
    const place = sandboxPlace();
    git(place.workDir, "init", "-q", "--bare");
    expect(runIn(place, "touch hooks/post-update; git config a.b c").output).toContain("Read-only");
    expect(existsSync(join(place.workDir, "hooks/post-update"))).toBe(false);
  });

  test("without the network there is nobody to reach; with it there is", () => {
    const place = sandboxPlace();
    const script = "tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' ' | sort";
    expect(runIn(place, script, { network: "off" }).output).toBe("lo\n");
    expect(runIn(place, script).output).toBe(execFileSync("bash", ["-c", script], { encoding: "utf8" }));
  });

  test("no process outside is seen, nor what it was started with, nor can it be reached", () => {
    const place = sandboxPlace();
    const script = `cat /proc/[0-9]*/environ | tr '\\0' '\\n' | grep -c SECRET_OF_THE_PARENT
cat /proc/${process.pid}/environ; kill -0 ${process.pid}; ls /proc/*/root/made
for file in /proc/sys/kernel/core_pattern /proc/sys/kernel/hostname; do (exec 3>>$file) && echo open; done
grep CapEff /proc/self/status; grep NoNewPrivs /proc/self/status; ls /dev/shm`;
    process.env["SECRET_OF_THE_PARENT"] = "x";
    const { output } = runIn(place, script);
    delete process.env["SECRET_OF_THE_PARENT"];
    expect(output.split("\n")[0]).toBe("0");
    expect(output).toMatch(/environ: No such file|environ: Permission denied/);
    expect(output).toContain("No such process");
    expect(output).not.toContain("open");
    expect(output).toMatch(/NoNewPrivs:\t1/);
    // Of all that root may do, only what concerns files and users of its own.
    expect(output).toMatch(/CapEff:\t0{13}(000|4fb)/);
    expect(readFileSync("/proc/self/status", "utf8")).toContain("Name");
  });

  test("what is mounted cannot be changed from inside", () => {
    const place = sandboxPlace();
    mkdirSync(join(place.home, ".ssh"));
    writeFileSync(join(place.home, ".ssh/id"), "SECRET");
    const script = `umount ~/.ssh; mount -o remount,rw /; mount -o remount,rw /dev
unshare -m umount ~/.ssh; unshare -Ur umount ~/.ssh; unshare -Urm sh -c 'umount ~/.ssh; mount -o remount,rw,bind /; touch ~/made'
cat ~/.ssh/id; touch ~/made`;
    expect(runIn(place, script).output).not.toContain("SECRET");
    expect(existsSync(join(place.home, "made"))).toBe(false);
  });
});
