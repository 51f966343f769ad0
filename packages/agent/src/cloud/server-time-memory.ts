import { isStateUnwritable } from "../state/state-errors.ts";
import type { StateFacts } from "../state/state-facts.ts";
import { readBootId } from "../system/boot-id.ts";

/** The server's time, and the uptime of this machine at that moment. */
export interface ServerTimeSample {
  readonly serverTimeNs: bigint;
  readonly atMs: number;
}

/** Keeps the server's time for the next process, until the machine is restarted: then it is not known how long it was off. */
export interface ServerTimeMemory {
  recall(): ServerTimeSample | undefined;
  keep(sample: ServerTimeSample): void;
}

export function createServerTimeMemory(
  facts: Pick<StateFacts, "serverTime" | "noteServerTime">,
  bootId = readBootId(),
): ServerTimeMemory {
  return {
    recall() {
      const known = facts.serverTime();
      return known?.bootId === bootId ? known : undefined;
    },
    keep(sample) {
      if (bootId === undefined) return;
      try {
        facts.noteServerTime({ bootId, ...sample });
      } catch (error) {
        if (!isStateUnwritable(error)) throw error; // An older time serves as well, as long as no clock jumped in between.
      }
    },
  };
}
