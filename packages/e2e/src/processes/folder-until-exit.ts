import { mkdtempSync, rmSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";

/** Makes a folder that is removed when this process ends, also if SIGINT or SIGTERM ends it, at whatever moment. */
export function makeFolderUntilExit(parent: string, prefix: string): string {
  for (const signal of ["SIGINT", "SIGTERM"] as const) // before there is a folder, which a signal would leave behind
    if (process.listenerCount(signal) === 0) process.once(signal, () => process.exit(128 + constants.signals[signal]));
  const folder = mkdtempSync(join(parent, prefix));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  return folder;
}
