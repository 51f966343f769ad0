// More connections than files that may be open are refused, and a start with too low a limit says what to raise: a
// connection that is refused comes again, a database or object that cannot be opened fails others.

import { readFileSync } from "node:fs";
import type { ConnectionLimits } from "../limits/limits.ts";

/** For the database, the store and what a process needs itself. */
const RESERVED = 512;
/** Of the connections that are allowed; with fewer the operator is told. */
const ENOUGH = 0.9;

/** How many files this process may open at once, connections among them; undefined where nobody says or limits it. */
export function openFileLimit(read = () => readFileSync("/proc/self/limits", "utf8")): number | undefined {
  if (process.platform !== "linux") return undefined;
  const limit = /^Max open files +(\d+) /m.exec(read())?.[1];
  return limit === undefined ? undefined : Number(limit);
}

interface Given {
  readonly limit: number | undefined;
  readonly log: { warn(details: object, message: string): void };
}

/** No more connections than files can be opened: one that is refused comes again, but a database or store that cannot be opened fails others. */
export function fitOpenFiles(limits: ConnectionLimits, { limit, log }: Given): ConnectionLimits {
  const most = limit === undefined ? limits.most : Math.max(1, Math.min(limits.most, limit - RESERVED));
  if (most < limits.most * ENOUGH)
    log.warn(
      { openFiles: limit, connections: most },
      `at most ${limit} files may be open at once, so at most ${most} connections (an agent that waits holds one), not ${limits.most}: raise the limit (ulimit -n, LimitNOFILE= of systemd, --ulimit nofile= of a container), or set DOWNLINK_MAX_CONNECTIONS to what is enough`,
    );
  return { ...limits, most };
}
