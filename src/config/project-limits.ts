import type { PermissionMode } from "../schema/event.ts";
import type { SettingKey, Settings } from "./settings.ts";

// Keys, addresses and telemetry are the person's own, whatever a project's files call them.
const FORBIDDEN =
  /^(?:providers|env|.*(?:api_?key|auth_?token|secret|password|base_?url|endpoint|proxy|headers|telemetry|otel).*|keys?)$/i;

/** Whether a project's settings file may not hold this key at all, trusted or not. */
export const isForbiddenInProject = (key: string): boolean => FORBIDDEN.test(key);

/** From the strictest to the loosest. */
const MODES: readonly PermissionMode[] = ["plan", "ask", "auto-edit", "auto", "yolo"];
const SANDBOXES: readonly Settings["sandbox"][] = ["require", "auto", "off"];
const NETWORKS: readonly Settings["sandbox.network"][] = ["off", "on"];

/**
 * Whether a project's value would loosen the permissions that the person has: `with trust` = the trust question may allow it.
 * A mode or a sandbox looser than the person's own never comes from a project.
 */
export const loosens = (key: SettingKey, value: unknown, own: unknown): "no" | "with trust" | "never" => {
  switch (key) {
    case "allow":
    case "addDirs":
    case "hooks":
    case "sandbox.writable":
      return Array.isArray(value) && value.length > 0 ? "with trust" : "no";
    case "permissionMode":
      // Without a mode of the person's own, "ask" is the measure: it is the chat's default.
      return rank(MODES, value) > rank(MODES, own ?? "ask") ? "never" : "no";
    case "sandbox":
      return rank(SANDBOXES, value) > rank(SANDBOXES, own) ? "never" : "no";
    case "sandbox.network":
      return rank(NETWORKS, value) > rank(NETWORKS, own) ? "never" : "no";
    // It removes what is of other projects.
    case "retention.days":
      return "never";
    default:
      return "no";
  }
};

const rank = (order: readonly unknown[], value: unknown): number => order.indexOf(value);
