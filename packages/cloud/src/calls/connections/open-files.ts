// Connections beyond the limit of open files are refused, and at its start the process says how to raise a limit that is too low: a refused
// connection comes again, but a database or an object that cannot be opened makes others fail.

import { readFileSync } from "node:fs";
import type { ConnectionLimits } from "../../process/limits/limits.ts";

/** For the database, the store and the process itself. */
const RESERVED = 512;
/** The share of the allowed connections; with fewer the operator is warned. */
const ENOUGH = 0.9;

/** Returns how many files this process may open at once, connections among them; undefined if there is no limit, or it is unknown. */
export function openFileLimit(read = () => readFileSync("/proc/self/limits", "utf8")): number | undefined {
  if (process.platform !== "linux") return undefined;
  const limit = /^Max open files +(\d+) /m.exec(read())?.[1];
  return limit === undefined ? undefined : Number(limit);
}

interface Given {
  readonly limit: number | undefined;
  readonly log: { warn(details: object, message: string): void };
}

/**
 * Allows no more connections than files can be opened: a refused connection comes again, but a database or store that cannot be opened
 * makes others fail.
 */
export function fitOpenFiles(limits: ConnectionLimits, { limit, log }: Given): ConnectionLimits {
  const most = limit === undefined ? limits.most : Math.max(1, Math.min(limits.most, limit - RESERVED));
  if (most < limits.most * ENOUGH)
    log.warn(
      { openFiles: limit, connections: most },
      `at most ${limit} files may be open at once, so at most ${most} connections (an agent that waits holds one), not ${limits.most}: raise the limit (ulimit -n, LimitNOFILE= of systemd, --ulimit nofile= of a container), or set DOWNLINK_MAX_CONNECTIONS to what is enough`,
    );
  return { ...limits, most };
}
