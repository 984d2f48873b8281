import { expect, test } from "vitest";
import { seatbeltArguments } from "../../../src/tools/sandbox/seatbelt.ts";

const PROFILE = `(version 1)
(allow default)
(deny file-write*)
(allow file-write*
  (literal "/dev/null")
  (literal "/dev/zero")
  (literal "/dev/stdout")
  (literal "/dev/stderr")
  (literal "/dev/dtracehelper")
  (subpath "/dev/fd"))
(allow file-write*
  (subpath (param "WRITABLE_0"))
  (subpath (param "WRITABLE_1")))
(deny file-write*
  (subpath (param "READ_ONLY_0")))
(deny file-read* file-write*
  (subpath (param "HIDDEN_0")))
(allow file-read*
  (subpath (param "VISIBLE_0")))
(deny appleevent-send)
(deny lsopen)
(deny signal)
(allow signal (target same-sandbox))
(deny process-info*)
(allow process-info* (target same-sandbox))`;

test("a policy becomes a profile in which the strictest rules stand last, and its paths are parameters", () => {
  const policy = {
    workDir: '/w/a "b")\n(allow default)',
    writable: ['/w/a "b")\n(allow default)', "/private/tmp"],
    readOnly: ["/w/.harness9"],
    hidden: ["/Users/u/.harness9"],
    visible: ["/Users/u/.harness9/outputs"],
  };
  const parameters = [
    ...["-D", 'WRITABLE_0=/w/a "b")\n(allow default)'],
    ...["-D", "WRITABLE_1=/private/tmp"],
    ...["-D", "READ_ONLY_0=/w/.harness9"],
    ...["-D", "HIDDEN_0=/Users/u/.harness9"],
    ...["-D", "VISIBLE_0=/Users/u/.harness9/outputs"],
  ];
  expect(seatbeltArguments({ ...policy, network: "on" })).toEqual([...parameters, "-p", PROFILE]);
  expect(seatbeltArguments({ ...policy, network: "off" })).toEqual([
    ...parameters,
    "-p",
    `${PROFILE}\n(deny network*)`,
  ]);
});

test("what a policy does not name has no rule, which would fit everything", () => {
  const policy = { workDir: "/w", writable: [], readOnly: [], hidden: [], visible: [], network: "on" } as const;
  const profile = seatbeltArguments(policy).join("\n");
  expect(profile).not.toContain("param");
  expect(profile.match(/\(allow file-write\*/g)).toHaveLength(1);
});
