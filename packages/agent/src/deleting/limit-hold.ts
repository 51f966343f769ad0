import type { DiskAmount } from "../settings/disk-amount.ts";
import type { KnownLimits } from "../state/known-facts.ts";
import { isStateUnwritable } from "../state/state-errors.ts";
import type { StateFacts } from "../state/state-facts.ts";
import { readBootId } from "../system/boot-id.ts";
import type { Clock } from "../system/clock.ts";
import { countOn, endIn } from "../system/wait-end.ts";
import type { Quota } from "./quota.ts";

/** Whether the files that a disk limit asks for may be deleted at this moment. */
export interface LimitHold {
  /** Takes in the limits and what they ask for. A new limit that asks for deletions at once starts a wait. */
  observe(quota: Quota, asks: LimitDemand): void;
  /** Milliseconds until the wait ends by itself; undefined where there is none. */
  msLeft(): number | undefined;
  /** Ends the wait, because a person confirmed the deletions. Returns whether there was one. */
  confirm(): boolean;
}

export interface LimitDemand {
  /** How much the limits ask for, whether files for it are found or not; undefined where the disk cannot be measured. */
  readonly neededBytes: number | undefined;
  /** Whether there are files that would be deleted for it. */
  readonly hasFiles: boolean;
}

interface HoldContext {
  readonly facts: Pick<StateFacts, "limits" | "noteLimits">;
  readonly clock: Pick<Clock, "nowNs" | "uptimeMs">;
  readonly bootId?: string | undefined;
  /** The limits of an agent that deleted for them before it kept note of its limits; undefined where it did not. */
  readonly formerLimits: Quota | undefined;
}

const HOLD_MS = 10 * 60_000;

/**
 * A limit may be mistyped, and deleted files do not come back. So a limit that would delete as soon as it is set waits for ten minutes from
 * when its plan is shown first. A limit that is reached later does not wait: the disk would be full before the wait is over. The wait
 * survives restarts.
 */
export function createLimitHold({ facts, clock, bootId = readBootId(), formerLimits }: HoldContext): LimitHold {
  const machine = { clock, bootId };
  let known: KnownLimits = facts.limits() ?? { inForce: formerLimits ? toLimits(formerLimits) : {} };
  const keep = (next: KnownLimits) => {
    if (JSON.stringify(next) === JSON.stringify(known)) return;
    known = next;
    try {
      facts.noteLimits(next);
    } catch (error) {
      if (!isStateUnwritable(error)) throw error; // It holds for this process; the next one begins with the older note.
    }
  };
  if (known.waiting) keep({ ...known, waiting: countOn(known.waiting, machine) });
  const msLeft = () => {
    const leftMs = known.waiting ? known.waiting.endsAtUptimeMs - clock.uptimeMs() : 0;
    return leftMs > 0 ? leftMs : undefined;
  };
  const enforceWaiting = () => keep(known.waiting ? { inForce: known.waiting.limits } : known);
  return {
    observe(quota, demand) {
      if (msLeft() === undefined) enforceWaiting();
      keep(nextLimits(known, { limits: toLimits(quota), demand, machine }));
    },
    msLeft,
    confirm() {
      const wasWaiting = msLeft() !== undefined;
      enforceWaiting();
      return wasWaiting;
    },
  };
}

type Limits = KnownLimits["inForce"];

interface Observed {
  readonly limits: Limits;
  readonly demand: LimitDemand;
  readonly machine: Parameters<typeof endIn>[1];
}

function nextLimits(known: KnownLimits, { limits, demand, machine }: Observed): KnownLimits {
  const { inForce, waiting } = known;
  if (!isStricter(limits, inForce) || demand.neededBytes === 0) return { inForce: limits };
  if (waiting && !isStricter(limits, waiting.limits)) return { inForce, waiting: { ...waiting, limits } };
  return demand.hasFiles ? { inForce, waiting: { limits, ...endIn(HOLD_MS, machine) } } : { inForce };
}

function toLimits({ maxDisk, minFree, prunesUnimported }: Quota): Limits {
  return maxDisk || minFree ? { maxDisk, minFree, prunesUnimported } : {};
}

/** Returns whether limits may ask for deletions that other limits do not ask for. */
function isStricter(limits: Limits, than: Limits): boolean {
  return (
    (limits.maxDisk !== undefined && !isAtLeast(limits.maxDisk, than.maxDisk)) ||
    (limits.minFree !== undefined && !isAtLeast(than.minFree, limits.minFree)) ||
    (limits.prunesUnimported === true && than.prunesUnimported !== true)
  );
}

/** False where one is a share of the disk and the other is not: which of them is more depends on the disk. */
function isAtLeast(one: DiskAmount | undefined, other: DiskAmount | undefined): boolean {
  if (!one || !other) return false;
  if ("bytes" in one) return "bytes" in other && one.bytes >= other.bytes;
  return "percent" in other && one.percent >= other.percent;
}
