import { randomBytes } from "node:crypto";
import { existsSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";
import { writeDurableFile } from "../durable/durable-file.ts";

const RESERVE_BYTES = 1024 * 1024;

/**
 * Keeps some room on the disk of the state while there is plenty: on a full disk nothing can be recorded, and only what was
 * recorded before may be deleted.
 */
export function keepReserve(stateDir: string): void {
  if (existsSync(reservePath(stateDir))) return;
  const { bavail, bsize } = statfsSync(stateDir);
  if (bavail * bsize < 2 * RESERVE_BYTES) return;
  // The bytes are random, because a file system may compress anything else to nothing.
  writeDurableFile(reservePath(stateDir), randomBytes(RESERVE_BYTES / 2).toString("hex"), 0o600);
}

/** Gives up the reserve for what has to be recorded now; false when there was none. */
export function releaseReserve(stateDir: string): boolean {
  if (!existsSync(reservePath(stateDir))) return false;
  rmSync(reservePath(stateDir));
  return true;
}

function reservePath(stateDir: string): string {
  return join(stateDir, "agent.reserve");
}
