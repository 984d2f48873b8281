import { execFileSync } from "node:child_process";
import { Command, Option } from "commander";
import { expect, test } from "vitest";
import { completionScript } from "../../src/cli/completion-command.ts";
import { en } from "../../src/text/en.ts";
import { tempDir } from "../helpers/temp-dir.ts";

const program = new Command("harness9").option("--cwd <dir>", "where").option("-m, --model <name>", "which");
const sessions = program.command("sessions").description("what was said").option("--all", "everywhere");
sessions
  .command("export")
  .description("for others")
  .addOption(new Option("-f, --format <format>", "how").choices(["md", "json"]));
program
  .command("usage")
  .description("it's the sum")
  .addOption(new Option("--by <group>", "of what").choices(["day", "model"]));

test.each<[words: readonly string[], completed: string]>([
  [["se"], "sessions"],
  [["--c"], "--cwd"],
  [["sessions", ""], "export --all"],
  [["sessions", "export"], "export"],
  [["sessions", "export", "--"], "--format"],
  [["sessions", "export", "last", "--"], "--format"],
  [["sessions", "export", "--format", ""], "md json"],
  [["usage", "--by", "d"], "day"],
  [["--cwd", "x", "us"], "usage"],
])("bash completes %j to %j", (words, completed) => {
  const script = `${completionScript("bash", program, en.cli)}\nCOMP_WORDS=(harness9 "$@") COMP_CWORD=$#; _harness9; echo "\${COMPREPLY[*]}"`;
  const answer = execFileSync("bash", ["-c", script, "bash", ...words], { cwd: tempDir(), encoding: "utf8" });
  expect(answer).toBe(`${completed}\n`);
});

test("fish knows commands within others, their options and what these may be", () => {
  expect(
    completionScript("fish", program, en.cli),
  ).toBe(`complete -c harness9 -n '__fish_use_subcommand' -a sessions -d 'what was said'
complete -c harness9 -n '__fish_use_subcommand' -a usage -d 'it\\'s the sum'
complete -c harness9 -n '__fish_use_subcommand' -l cwd -d 'where'
complete -c harness9 -n '__fish_use_subcommand' -l model -s m -d 'which'
complete -c harness9 -n '__fish_seen_subcommand_from sessions; and __fish_seen_subcommand_from export' -l format -s f -xa 'md json' -d 'how'
complete -c harness9 -n '__fish_seen_subcommand_from sessions' -a export -d 'for others'
complete -c harness9 -n '__fish_seen_subcommand_from sessions' -l all -d 'everywhere'
complete -c harness9 -n '__fish_seen_subcommand_from usage' -l by -xa 'day model' -d 'of what'
`);
});
