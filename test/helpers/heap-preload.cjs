// Loaded by --require beside --expose-gc: on SIGUSR2 a collection, then the bytes of the heap as a line of the file HEAP_FILE.
const { appendFileSync } = require("node:fs");

process.on("SIGUSR2", () => {
  // Twice: what finalizers and weak references let go of is free after the second.
  globalThis.gc();
  globalThis.gc();
  appendFileSync(process.env.HEAP_FILE, `${process.memoryUsage().heapUsed}\n`);
});
