import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { findProgram } from "../../src/tools/sandbox/find-program.ts";
import { createSandbox } from "../../src/tools/sandbox/open-sandbox.ts";
import { createPolicy, type PolicyOptions } from "../../src/tools/sandbox/policy.ts";
import type { Sandbox } from "../../src/tools/sandbox/sandbox.ts";
import { createWorkspace, type WorkspaceOptions } from "../../src/tools/workspace/workspace.ts";
import { tempDir } from "./temp-dir.ts";

const BWRAP = findProgram("bwrap", process.env["PATH"] ?? "") ?? "bwrap";

const bwrapWorks = (): boolean => {
  try {
    execFileSync(BWRAP, ["--ro-bind", "/", "/", "--proc", "/proc", "--unshare-pid", "true"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
};

/** Whether tests can start bubblewrap on this machine. */
export const HAS_BWRAP = process.platform === "linux" && bwrapWorks();

export type SandboxPlace = { readonly root: string; readonly home: string; readonly workDir: string };

/** A home and a project in it. Temp folders are not writable unless named, since all of this lies in one. */
export const sandboxPlace = (): SandboxPlace => {
  const root = tempDir();
  const place = { root, home: join(root, "home"), workDir: join(root, "home", "project") };
  mkdirSync(place.workDir, { recursive: true });
  return place;
};

export const policyFor = (
  { home, workDir }: SandboxPlace,
  options: Partial<PolicyOptions & WorkspaceOptions> = {},
): PolicyOptions => ({
  workspace: createWorkspace({ workDir, homeDir: home, harnessHome: join(home, ".harness9"), ...options }),
  homeDir: home,
  tempDirs: [],
  writable: [],
  network: "on",
  ...options,
});

export const bubblewrapFor = (options: PolicyOptions): Sandbox =>
  createSandbox({ name: "bubblewrap", program: BWRAP, policy: createPolicy(options) });
