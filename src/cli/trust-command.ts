import { readTrust, saveDecision } from "../config/trust.ts";
import { visibleControls } from "../text/clean.ts";
import type { RunOptions } from "./program.ts";
import { prepare, type Surroundings } from "./setup.ts";
import { trustLines } from "./trust-lines.ts";
import { writing } from "./writing.ts";

/** `harness9 trust [--revoke]`: yes or no to what the folder holds now, without the question. @throws UserError */
export const runTrust = async (
  { revoke, ...options }: RunOptions & { readonly revoke?: true },
  surroundings: Surroundings,
): Promise<void> => {
  const setup = await prepare(surroundings, options);
  const { paths, workDir, strings, trust } = setup;
  // A value that cannot be used is said now, not at the next start.
  if (revoke === undefined) await trust.granted();
  const file = { path: paths.trust, workDir, strings: strings.config };
  await writing(paths.trust, strings.cli, () =>
    saveDecision(file, { trusted: revoke === undefined, digest: trust.digest, time: new Date() }),
  );
  const { allow, deny, origin } = await readTrust(file);
  const items = trustLines(trust.items, workDir).map((row) => `  ${row}`);
  const listed = [revoke ? strings.cli.countsNoMore : strings.cli.countsNow, ...items];
  const nothing = revoke ? [] : [strings.cli.nothingToTrust];
  const lines = [
    (revoke ? strings.cli.notTrusted : strings.cli.trusted)(workDir, paths.trust),
    ...(items.length > 0 ? listed : nothing),
    ...(revoke && allow.length + deny.length > 0
      ? [strings.cli.savedRulesStay(allow.length + deny.length, origin)]
      : []),
  ];
  process.stdout.write(lines.map((line) => `${visibleControls(line)}\n`).join(""));
};
