// Loaded by --require into a measured program: writes what the process used to the file BENCH_USAGE when it exits.
const { subscribe } = require("node:diagnostics_channel");
const { appendFileSync, readFileSync } = require("node:fs");

const file = process.env.BENCH_USAGE;
let started = 0;
subscribe("child_process", () => {
  started += 1;
});

process.on("exit", () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  const usage = { cpuMs: (userCPUTime + systemCPUTime) / 1000, rssMb: peakKb(maxRSS) / 1024, started };
  appendFileSync(file, `${JSON.stringify(usage)}\n`);
});

// On Linux a process inherits the maximum of the one that forked it (here the benchmark's); VmHWM is its own.
function peakKb(maxRss) {
  if (process.platform !== "linux") return maxRss;
  return Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync("/proc/self/status", "utf8"))[1]);
}
