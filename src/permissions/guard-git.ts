import { gitCommand, runsPrograms } from "./git-command.ts";
import { type GuardHit, type GuardPlaces, type Harm, pathsOf } from "./guarded-paths.ts";
import { hasFlag, operandsOf } from "./options.ts";
import type { Word } from "./shell-word.ts";
import type { SimpleCommand } from "./simple-command.ts";

/** What git itself throws away, or is told to run later. */
export const gitHarm = (command: SimpleCommand, places: GuardPlaces): GuardHit[] => {
  const { subcommand, rest, settings } = gitCommand(command.words);
  const whole = () => operandsOf(rest).some((word) => isWholeTree(word, command, places));
  const has = (letters: string, ...long: readonly string[]) => hasFlag(rest, { letters, long });
  const found = ruleFor();
  if (found === undefined) return [];
  const [rule, harm] = found;
  return [{ rule: `git ${rule}`, subject: `git ${subcommand}`, harm, isCertain: true }];

  function ruleFor(): readonly [rule: string, harm: Harm] | undefined {
    switch (subcommand) {
      case "reset":
        return has("", "hard") ? ["reset --hard", "uncommitted"] : undefined;
      case "clean": {
        const isForced = has("f", "force") || settings.some((setting) => /^clean\.requireforce=/i.test(setting ?? ""));
        return isForced && !has("n", "dry-run") ? ["clean -f", "untracked"] : undefined;
      }
      case "checkout":
        return has("f", "force") || whole() ? ["checkout -- .", "uncommitted"] : undefined;
      case "switch":
        return has("f", "force", "discard-changes") ? ["switch --force", "uncommitted"] : undefined;
      case "restore":
        return whole() && (!has("S", "staged") || has("W", "worktree")) ? ["restore .", "uncommitted"] : undefined;
      case "push":
        if (has("n", "dry-run")) return undefined;
        return has("fd", "force", "force-with-lease", "force-if-includes", "mirror", "delete") || rest.some(isForcedRef)
          ? ["push --force", "published"]
          : undefined;
      case "branch":
        return has("D") || (has("d", "delete") && has("f", "force")) ? ["branch -D", "unmerged"] : undefined;
      case "stash": {
        const verb = operandsOf(rest)[0]?.text;
        return verb === "drop" || verb === "clear" ? [`stash ${verb}`, "stashed"] : undefined;
      }
      case "rm":
        return has("f", "force") && whole() ? ["rm -f .", "uncommitted"] : undefined;
      case "config": {
        const key = configKey(rest);
        return key === undefined ? undefined : [`config ${key}`, "gitRuns"];
      }
      default:
        return undefined;
    }
  }
};

const isForcedRef = ({ text }: Word): boolean => text !== null && /^(\+|:.)/.test(text);

/** A pathspec that stands for everything. */
const isWholeTree = (word: Word, command: SimpleCommand, { workDir }: GuardPlaces): boolean => {
  if (word.text === null) return false;
  if (/^(:|:\/|:\(.*\)|:\/?\*+|\*+|\*\.\*|\.\/\*+)$/.test(word.text)) return true;
  if (!/[./]/.test(word.text)) return false;
  return pathsOf(word, command).some(
    (path) => path !== null && (path === workDir || workDir.startsWith(`${path}/`) || path === "/"),
  );
};

/** The key of `git config KEY VALUE` and its spellings, where git runs what the value names. */
const configKey = (rest: readonly Word[]): string | undefined => {
  if (hasFlag(rest, { letters: "l", long: ["get", "get-all", "get-regexp", "list", "unset", "unset-all"] }))
    return undefined;
  const texts = rest.map(({ text }) => text);
  const verb = texts.find((text) => text !== null && !text.startsWith("-"));
  // Under its new name a section's settings mean something else, and an editor may write anything.
  const whole = ["rename-section", "edit"].find((name) => verb === name || hasFlag(rest, { long: [name] }));
  if (whole !== undefined) return whole;
  if (hasFlag(rest, { letters: "e" })) return "edit";
  if (verb === "get" || verb === "list" || verb === "unset") return undefined;
  const index = texts.findIndex(
    (text) => text !== null && !text.startsWith("-") && text.includes(".") && runsPrograms(text),
  );
  return index >= 0 && index < texts.length - 1 ? (texts[index] ?? undefined) : undefined;
};
