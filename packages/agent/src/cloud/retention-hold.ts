import type { KnownRetention } from "../state/known-facts.ts";
import { isStateUnwritable } from "../state/state-errors.ts";
import type { StateFacts } from "../state/state-facts.ts";
import type { ServerClock } from "./server-clock.ts";

/** Whether files may be deleted for their age at this moment. */
export interface RetentionHold {
  /** Takes in the cloud's setting and time. Whatever would suddenly make files too old starts a wait. */
  observe(retainSeconds: number): void;
  /** The server time until which nothing is deleted for its age; undefined where there is no wait. */
  heldUntilNs(): bigint | undefined;
}

const HOLD_NS = 24n * 3_600_000_000_000n;

/**
 * Makes a shortened retention wait for a day, in which a mistake of an admin or of a clock can be corrected. The wait survives restarts.
 * spec: edge agent §4
 */
export function createRetentionHold(
  facts: Pick<StateFacts, "retention" | "noteRetention">,
  serverClock: ServerClock,
): RetentionHold {
  let known = facts.retention();
  let jumps = serverClock.jumps();
  return {
    observe(seconds) {
      const nowNs = serverClock.nowNs();
      if (nowNs === undefined) return;
      const next = nextRetention(known, { seconds, nowNs, hasJumped: serverClock.jumps() > jumps });
      jumps = serverClock.jumps();
      if (next === known) return;
      known = next;
      try {
        facts.noteRetention(next);
      } catch (error) {
        if (!isStateUnwritable(error)) throw error; // The new one is in force; the older one that is recorded will start a wait once more.
      }
    },
    heldUntilNs() {
      const nowNs = serverClock.nowNs();
      const untilNs = known?.heldUntilNs;
      return untilNs === undefined || nowNs === undefined || nowNs >= untilNs ? undefined : untilNs;
    },
  };
}

export function nextRetention(
  known: KnownRetention | undefined,
  { seconds, nowNs, hasJumped }: { seconds: number; nowNs: bigint; hasJumped: boolean },
): KnownRetention {
  const isShorter = known !== undefined && seconds > 0 && (known.seconds === 0 || seconds < known.seconds);
  // No wait can end that late: the clock was set back while no agent ran.
  const isSetBack = known !== undefined && known.heldUntilNs > nowNs + HOLD_NS;
  if (isShorter || hasJumped || isSetBack) return { seconds, heldUntilNs: nowNs + HOLD_NS };
  if (known?.seconds === seconds) return known;
  return { seconds, heldUntilNs: known?.heldUntilNs ?? 0n };
}
