import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { constants } from "node:os";
import { join } from "node:path";

/** Makes a folder that is removed when this process ends, also if SIGINT or SIGTERM ends it. */
export async function makeFolderUntilExit(parent: string, prefix: string): Promise<string> {
  const folder = await mkdtemp(join(parent, prefix));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    if (process.listenerCount(signal) === 0) process.once(signal, () => process.exit(128 + constants.signals[signal]));
  return folder;
}
