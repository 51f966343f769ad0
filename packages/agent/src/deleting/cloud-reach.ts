import type { CloudSession } from "../cloud/session.ts";
import type { Clock } from "../system/clock.ts";
import type { DeletionSituation } from "./plan-deletions.ts";

interface ReachContext {
  readonly session: CloudSession;
  readonly clock: Clock;
  /** Whether the cloud knows all that is here. */
  readonly isListed: () => boolean;
  /** How much of the time between two looks counts as silence at most, because the machine may have slept. */
  readonly longestGapMs: number;
}

/** Whether the cloud can be asked about a deletion. */
export interface CloudReach {
  look(): DeletionSituation["reach"];
}

/** After this long without an answer of the cloud, the device is on its own. */
const CUT_OFF_AFTER_MS = 120_000;

/** An agent that the cloud refused, or that another one replaced, is not cut off: only silence counts. */
export function createCloudReach({ session, clock, isListed, longestGapMs }: ReachContext): CloudReach {
  let lookedMs = clock.uptimeMs();
  let silentMs = 0;
  return {
    look() {
      const { state } = session.connection();
      const nowMs = clock.uptimeMs();
      const passedMs = Math.min(longestGapMs, nowMs - lookedMs);
      lookedMs = nowMs;
      silentMs = state === "connected" ? 0 : silentMs + passedMs;
      if (state === "connected") return isListed() ? "connected" : "unsure";
      const isSilent = state === "offline" || state === "connecting";
      return isSilent && silentMs >= CUT_OFF_AFTER_MS ? "offline" : "unsure";
    },
  };
}
