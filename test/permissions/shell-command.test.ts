// biome-ignore-all lint/suspicious/noTemplateCurlyInString: shell text
import { describe, expect, test } from "vitest";
import { parseCommand } from "../../src/permissions/shell-command.ts";

const places = { workDir: "/home/me/app", homeDir: "/home/me" };

const parse = async (text: string) => {
  const { commands, isCertain, doubts } = await parseCommand(text, places);
  return {
    commands: commands.map(({ words }) => words.map((word) => word.text ?? "?").join(" ")),
    isCertain,
    doubts: doubts.map(({ kind }) => kind),
  };
};

describe("every command of a line is found", () => {
  test.each<[string, string[]]>([
    ["", []],
    ["  # only a comment", []],
    ["ls    -la\t-h", ["ls -la -h"]],
    ["a&&b", ["a", "b"]],
    ["a;b|c&&d", ["a", "b", "c", "d"]],
    ["ls\nrm x", ["ls", "rm x"]],
    ["ls & rm x", ["ls", "rm x"]],
    ["ls || rm x", ["ls", "rm x"]],
    ["! rm x", ["rm x"]],
    ["{ rm x; }", ["rm x"]],
    ["( rm x )", ["rm x"]],
    ["if rm x; then :; elif b; then c; else d; fi", ["rm x", ":", "b", "c", "d"]],
    ["for i in $(seq 3); do rm x; done", ["seq 3", "rm x"]],
    ["for ((i=$(a); i<1; i++)); do rm x; done", ["a", "rm x"]],
    ["while a; do b; done < f", ["", "a", "b"]],
    ["case $(a) in x) rm x;; *) b;; esac", ["a", "rm x", "b"]],
    ["f() { rm x; }", ["rm x"]],
    ["coproc rm x", ["rm x"]],
    ["time rm x", ["rm x"]],
    ["ls $(rm x)", ["rm x", "ls ?"]],
    ["ls `rm x`", ["rm x", "ls ?"]],
    ["ls <(rm x) >(rm y)", ["rm x", "rm y", "ls ? ?"]],
    ['echo "a $(rm x) b"', ["rm x", "echo ?"]],
    ["echo $(echo $(rm x))", ["rm x", "echo ?", "echo ?"]],
    ["echo ${y:-$(rm x)}", ["rm x", "echo ?"]],
    ["echo $((a[$(rm x)]))", ["rm x", "echo ?"]],
    ["(( a[$(rm x)] ))", ["rm x"]],
    ["[[ -n $(rm x) ]]", ["rm x"]],
    ["a=$(rm x)", ["rm x", ""]],
    ["a[$(rm x)]=1 b", ["rm x", "b"]],
    ["cat <<EOF\n$(rm x)\nEOF", ["rm x", "cat"]],
    ["cat <<'EOF'\n$(rm x)\nEOF", ["cat"]],
    ["cat <<< $(rm x)", ["rm x", "cat"]],
    ["ls > $(rm x)", ["rm x", "ls"]],
    ["echo 'rm x; `rm y` $(rm z)'", ["echo rm x; `rm y` $(rm z)"]],
    ['echo "rm -rf / is bad"', ["echo rm -rf / is bad"]],
  ])("%j", async (text, commands) => {
    expect((await parse(text)).commands).toEqual(commands);
  });
});

describe("wrappers are looked through and literal scripts are read", () => {
  test.each<[string, string[]]>([
    ["timeout 5 rm x", ["rm x"]],
    ["timeout -k 1 --signal=KILL 5 rm x", ["rm x"]],
    ["nohup nice -n 5 ionice -c 3 stdbuf -oL setsid -f rm x", ["rm x"]],
    ["env rm x", ["rm x"]],
    ["env -u A -i B=1 rm x", ["rm x"]],
    ["sudo -u root -E A=1 rm x", ["rm x"]],
    ["doas rm x", ["rm x"]],
    ["command rm x", ["rm x"]],
    ["command -v rm", ["command -v rm"]],
    ["builtin echo x", ["echo x"]],
    ["exec -a n rm x", ["rm x"]],
    ["busybox rm x", ["rm x"]],
    ["/usr/bin/env rm x", ["rm x"]],
    ["\\time -p rm x", ["rm x"]],
    ["ls | xargs -0 -n 1 rm", ["ls", "rm ?"]],
    ["ls | xargs -I{} rm a/{} b", ["ls", "rm ? b"]],
    ["ls | xargs", ["ls", "xargs"]],
    ["sh -c 'ls; rm x'", ["ls", "rm x"]],
    ["bash -lc 'rm x' name y", ["rm x"]],
    ["bash -o errexit -xc 'rm x'", ["rm x"]],
    ["bash --norc -c 'sh -c \"rm x\"'", ["rm x"]],
    ["eval rm 'x; ls'", ["rm x", "ls"]],
    ["trap 'rm x' EXIT", ["trap rm x EXIT", "rm x"]],
    ["bash <<'EOF'\nrm x\nEOF", ["rm x"]],
    ["sh <<< 'rm x'", ["rm x"]],
    ["find a b -name c -exec rm {} +", ["find a b -name c -exec rm {} +", "rm a/{} b/{}"]],
    ["find . -execdir sh -c 'rm x' \\;", ["find . -execdir sh -c rm x ;", "rm x"]],
    ["fd x -x rm {}", ["fd x -x rm {}", "rm {}"]],
    ["rg --pre 'evil' x", ["rg --pre evil x", "evil"]],
    ["git -c alias.x='!rm x' x", ["git -c alias.x=!rm x x", "rm x"]],
    ["git -c alias.x='reset --hard' x", ["git -c alias.x=reset --hard x", "git reset --hard"]],
    ["git -c core.pager='sh -c id' log", ["git -c core.pager=sh -c id log", "id"]],
    ["git submodule foreach --recursive 'rm x'", ["git submodule foreach --recursive rm x", "rm x"]],
    ["git bisect run rm x", ["git bisect run rm x", "rm x"]],
  ])("%j", async (text, commands) => {
    expect(await parse(text)).toEqual({ commands, isCertain: true, doubts: [] });
  });
});

describe("what only the shell can know is not certain", () => {
  test.each<[string, string]>([
    ["echo 'unclosed", "syntax"],
    ['echo "unclosed', "syntax"],
    ["echo $(ls", "syntax"],
    ["bad\\", "syntax"],
    ["cat <<EOF\nx", "syntax"],
    ["echo @(a|b)", "syntax"],
    ["a && ", "syntax"],
    ["$x", "name"],
    ["$(echo rm) x", "name"],
    ["r''$y x", "name"],
    ["/bin/r? x", "name"],
    ["'' x", "name"],
    ["sudo $x", "wrapper"],
    ["timeout 5 $x", "name"],
    ["bash $script", "name"],
    ["bash <(ls)", "name"],
    [". <(ls)", "name"],
    ["git $x", "name"],
    ["env -S 'rm x'", "wrapper"],
    ["sudo -i rm x", "wrapper"],
    ["timeout $x 5 rm", "wrapper"],
    ["parallel rm ::: x", "wrapper"],
    ["watch rm x", "wrapper"],
    ["sh -c $x", "script"],
    ['sh -c "rm $(cat f)"', "script"],
    ["eval $x", "script"],
    ["echo rm x | sh", "script"],
    ["sh", "script"],
    ["bash -s x", "script"],
    ["bash <<EOF\n$x\nEOF", "script"],
    ["fish -c 'rm x'", "script"],
    ["ls | xargs -I{} sh -c 'rm {}'", "script"],
    ["ls | xargs sh -c", "script"],
    ["trap $x EXIT", "script"],
    ["echo ${x@P}", "evaluated"],
    ["x='a[$(rm y)]'; echo $((x))", "evaluated"],
    ["[[ -v 'a[$(rm y)]' ]]", "evaluated"],
    ["[[ 'a[$(rm y)]' -eq 1 ]]", "evaluated"],
    ["let 'a[$(rm y)]=1'", "evaluated"],
    ["printf -v 'a[$(rm y)]' x", "evaluated"],
    ["declare 'a[$(rm y)]=1'", "evaluated"],
    ["alias ls='rm x'", "evaluated"],
    ["hash -p /bin/rm ls", "evaluated"],
    ["mapfile -C 'rm x' -c 1 a", "evaluated"],
    ["shopt -s extglob", "redefines"],
    ["cd() { :; }", "redefines"],
    ["echo x > $F", "redirect"],
    ["echo x >& $F", "redirect"],
  ])("%j (%s)", async (text, doubt) => {
    const parsed = await parse(text);
    expect({ isCertain: parsed.isCertain, doubt: parsed.doubts[0] }).toEqual({ isCertain: false, doubt });
  });
});

describe("ordinary lines are certain", () => {
  test.each([
    "npm test",
    "cd build && make -j4 2>&1 | tail -20",
    "git add -A && git commit -m 'x: $(not run)'",
    'for f in *.ts; do wc -l "$f"; done',
    "FOO=1 node -e 'console.log(`x`)'",
    "cat > f.txt <<'EOF'\n$(x) 'unclosed\nEOF",
    "awk '{print $1}' f | sort | uniq -c",
    'test -n "$x" && [ -f y ] || exit 1',
    'echo "$HOME" ~ $$ $?',
    "[[ $a == b* ]] && echo yes",
    "curl -o install.sh https://example.org/install.sh",
    "python3 - <<'EOF'\nprint(1)\nEOF",
    "bash script.sh --flag",
    "export PATH=/x:$PATH",
    "echo a >> log.txt 2>/dev/null",
  ])("%j", async (text) => {
    expect(await parse(text)).toMatchObject({ isCertain: true, doubts: [] });
  });
});

test("words are what the program gets: quotes, tilde, home, braces", async () => {
  const { commands } = await parseCommand(
    "p a\\ b 'c d' \"e\\\"f\" ~ ~/x \"~\" $HOME/y ${HOME}z {g,h{i,j}}k *.ts of=~/d \\~ ~root $x a''b $'n\\tq'",
    places,
  );
  expect(commands[0]?.words.slice(1).map(({ text, glob }) => (glob ? { glob: text } : text))).toEqual(
    // biome-ignore format: one line of words
    ["a b", "c d", 'e"f', "/home/me", "/home/me/x", "~", "/home/me/y", "/home/mez", "gk", "hik", "hjk", { glob: "*.ts" }, "of=/home/me/d", "~", null, null, "ab", "n\tq"],
  );
});

describe("the folder that a command runs in follows cd", () => {
  test.each<[string, (string | null)[]]>([
    ["x", ["/home/me/app"]],
    ["cd / && x", ["/"]],
    ["cd sub; x", ["/home/me/app", "/home/me/app/sub"]],
    ["cd sub || x", ["/home/me/app", "/home/me/app/sub"]],
    ["(cd /); x", ["/home/me/app"]],
    ["cd / | true; x", ["/home/me/app"]],
    ["cd / & x", ["/home/me/app"]],
    ["cd && x", ["/home/me"]],
    ["cd - && x", [null]],
    ['cd "$y" && x', [null]],
    ["cd a && cd ../b && x", ["/home/me/app/b"]],
    ["command cd / && x", ["/"]],
    ["timeout 5 cd / && x", ["/home/me/app"]],
    ["eval 'cd /' && x", ["/home/me/app", "/"]],
    ["sh -c 'cd /' && x", ["/home/me/app"]],
    ["f() { cd /; }; f; x", ["/home/me/app", "/"]],
    ["pushd / && x", ["/"]],
  ])("%j", async (text, directories) => {
    const { commands } = await parseCommand(text, places);
    expect(commands.at(-1)?.directories).toEqual(directories);
  });
});

test("nesting without end is not certain and does not overflow", async () => {
  const deep = `${"$(".repeat(2000)}ls${")".repeat(2000)}`;
  expect((await parseCommand(`echo ${deep}`, places)).isCertain).toBe(false);
  let script = "rm x";
  for (let level = 0; level < 12; level += 1) script = `sh -c ${JSON.stringify(script).replaceAll("$", "\\$")}`;
  expect((await parseCommand(script, places)).commands.length).toBeLessThan(50);
  expect((await parseCommand("timeout 1 ".repeat(5000), places)).isCertain).toBe(false);
});

test.each([
  ["a pipeline of one program", `${"ls |".repeat(30_000)} true`, ["ls"]],
  ["a pipeline of many programs", `${Array.from({ length: 30_000 }, (_, index) => `a${index} |`).join("")} true`, 64],
  ["a folder that no path reaches", `${"cd a;".repeat(25_000)} true`, []],
])("%s costs what its length explains", async (_, text, feeders) => {
  const { commands, isCertain } = await parseCommand(text, places);
  const { words, fedBy, directories } = commands.at(-1) ?? { words: [], fedBy: [], directories: [] };
  expect(words.map((word) => word.text)).toEqual(["true"]);
  expect(isCertain).toBe(feeders !== 64);
  if (feeders === 64) expect(fedBy).toHaveLength(64);
  else expect(fedBy).toEqual(feeders);
  expect(Math.max(...directories.map((directory) => directory?.length ?? 0))).toBeLessThanOrEqual(4096);
});
