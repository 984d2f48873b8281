// The scenarios and what each must keep to. docs/performance.md says where the limits come from.

/**
 * @typedef {{ measure: string, limit: number, against?: "floor" | string }} Gate
 *   Without `against` the limit is a figure; with "floor" a multiple of the floor's median in the same run; with a scenario's name
 *   a multiple of harness9's own median there.
 * @typedef {{ name: string, prompt: string | null, dialect: "openai" | "anthropic", gates: Gate[], sandbox?: "on" | "off", isChat?: true, isSnapshot?: true, isJournal?: true }} Scenario
 *   `sandbox`: whether the commands of harness9 and of the floor are confined; `isChat`: in a terminal, by chat.mjs; `isSnapshot`: by
 *   snapshot.mjs; `isJournal`: by journal.mjs
 */

const floor = (limits) => Object.entries(limits).map(([measure, limit]) => ({ measure, limit, against: "floor" }));
const exact = (limits) => Object.entries(limits).map(([measure, limit]) => ({ measure, limit }));
const agent = (name, dialect, gates, sandbox) => ({
  name,
  prompt: `bench:${name.replace(/ .*/, "")} Do it.`,
  dialect,
  gates,
  sandbox,
});

/** @type {readonly Scenario[]} */
export const SCENARIOS = [
  { name: "version", prompt: null, dialect: "openai", gates: floor({ wallMs: 1.5 }) },
  agent("hello", "openai", [
    ...floor({ wallMs: 3.3, cpuMs: 3.7, rssMb: 1.6 }),
    ...exact({ firstRequestBytes: 8300, requests: 1 }),
  ]),
  agent("hello (anthropic)", "anthropic", [
    ...floor({ wallMs: 3.3, cpuMs: 3.7, rssMb: 1.6 }),
    ...exact({ firstRequestBytes: 8300, requests: 1 }),
  ]),
  agent("tools:20", "openai", [...floor({ wallMs: 2.6, turnMs: 2.9, rssMb: 1.9 }), ...exact({ cacheKept: 1 })], "off"),
  agent(
    "tools:20 (anthropic)",
    "anthropic",
    [...floor({ wallMs: 2.6, turnMs: 2.9 }), ...exact({ cacheKept: 1 })],
    "off",
  ),
  agent("tools:20 (sandbox)", "openai", floor({ wallMs: 2.2, turnMs: 2.2 }), "on"),
  agent("reads:20", "openai", [...floor({ wallMs: 3.3, turnMs: 4.7 }), ...exact({ cacheKept: 1 })]),
  agent("par:8", "openai", floor({ wallMs: 3.3 }), "off"),
  agent("par:8 (sandbox)", "openai", floor({ wallMs: 3 }), "on"),
  agent("stream:20000", "openai", floor({ wallMs: 2.2, cpuMs: 2.5, rssMb: 1.6 })),
  agent("stream:20000 (anthropic)", "anthropic", floor({ wallMs: 2.2, cpuMs: 2.5, rssMb: 1.6 })),
  agent(
    "tools:200",
    "openai",
    [
      { measure: "rssMb", limit: 1.25, against: "tools:20" },
      { measure: "turnMs", limit: 1.5, against: "tools:20" },
      ...exact({ cacheKept: 1 }),
    ],
    "off",
  ),
  {
    name: "chat",
    prompt: null,
    dialect: "openai",
    isChat: true,
    gates: [
      ...floor({ readyMs: 5, promptRssMb: 2.2, streamCpu: 4 }),
      ...exact({
        idleBytes: 0,
        bytesPerChar: 12,
        streamCpu: 0.5,
        echoP95Ms: 66,
        streamEchoMs: 33,
        streamEchoP95Ms: 66,
      }),
    ],
  },
  {
    name: "snapshot",
    prompt: null,
    dialect: "openai",
    isSnapshot: true,
    gates: [...floor({ warmMs: 2 }), ...exact({ warmMs: 150, mainMs: 5 })],
  },
  {
    name: "journal",
    prompt: null,
    dialect: "openai",
    isJournal: true,
    gates: [...floor({ journalMs: 2 }), ...exact({ journalMs: 2 })],
  },
];
