// Who may import whom; the picture stands in docs/architecture.md.
const only = (from, allowed) => ({
  name: `${from}-imports-only-what-it-may`,
  severity: "error",
  from: { path: `^src/${from}/` },
  to: { path: "^src/", pathNot: `^src/(${[from, ...allowed].join("|")})` },
});
const sdk = (name, packages, home) => ({
  name: `${name}-only-under-${home}`,
  severity: "error",
  from: { path: "^src/", pathNot: `^src/${home}/` },
  to: { path: `node_modules/(${packages})` },
});

module.exports = {
  forbidden: [
    { name: "no-cycles", severity: "error", from: {}, to: { circular: true } },
    { name: "no-unresolvable", severity: "error", from: {}, to: { couldNotResolve: true } },
    only("schema", []),
    only("text", ["schema/"]),
    only("config", ["schema/", "text/"]),
    only("providers", ["schema/", "text/"]),
    only("tools", ["schema/", "text/"]),
    only("permissions", ["schema/", "text/", "tools/"]),
    only("hooks", ["schema/", "text/", "tools/"]),
    only("memory", ["schema/", "text/", "tools/"]),
    only("skills", ["schema/", "text/", "tools/"]),
    only("snapshots", ["schema/", "text/", "tools/"]),
    only("engine", ["schema/", "text/", "tools/", "providers/provider\\.ts"]),
    only("session", ["schema/", "text/", "engine/", "providers/provider\\.ts"]),
    only("logging", ["schema/", "text/"]),
    only("headless", ["schema/", "text/", "session/"]),
    only("ui", ["schema/", "text/", "session/"]),
    {
      name: "nobody-imports-cli",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/cli/" },
      to: { path: "^src/cli/" },
    },
    sdk("model-sdks", "openai|@anthropic-ai", "providers"),
    sdk("ui-libraries", "react|ink", "ui"),
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "require", "node", "default", "types"] },
  },
};
