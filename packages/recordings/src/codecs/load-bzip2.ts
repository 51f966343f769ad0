import { createRequire } from "node:module";
import type Bzip2 from "@foxglove/wasm-bz2";

/**
 * Loads the module at the first bzip2 chunk. Its loader hooks itself into the process (`uncaughtException`, `unhandledRejection`), once for
 * each instance. A library must not decide how its process dies, so the hooks are taken out again.
 */
export async function loadBzip2(): Promise<Bzip2> {
  const { init } = require("@foxglove/wasm-bz2") as typeof Bzip2;
  const before = events.map((event) => new Set(process.rawListeners(event)));
  const loading = init();
  // The hooks are set before `init()` returns, so nothing else can have added listeners meanwhile.
  for (const [index, event] of events.entries()) {
    for (const listener of process.rawListeners(event)) {
      if (!before[index]!.has(listener)) process.removeListener(event, listener as (...args: unknown[]) => void);
    }
  }
  return loading;
}

const events = ["uncaughtException", "unhandledRejection"] as const;

const require = createRequire(import.meta.url);
