// Loaded into a control plane by `node --expose-gc --import`: at SIGUSR2 it reports what its heap holds, before and after a collection.
import { memoryUsage } from "node:process";

let asked = 0;

process.on("SIGUSR2", () => {
  asked += 1;
  const before = memoryUsage();
  globalThis.gc?.();
  const parts = { heapTotal: before.heapTotal, external: before.external, live: memoryUsage().heapUsed };
  process.stdout.write(`memory ${asked}: ${JSON.stringify(parts)}\n`);
});
