import { formatTimestamp } from "@downlink/protocol";
import type { KnownPause } from "../state/known-facts.ts";
import { isStateUnwritable } from "../state/state-errors.ts";
import type { StateFacts } from "../state/state-facts.ts";
import { readBootId } from "../system/boot-id.ts";
import type { Clock } from "../system/clock.ts";

/** A pause of uploads that somebody on the device began. Times are wall time. */
export interface PauseState {
  readonly by: string;
  readonly since: string;
  /** Undefined where somebody has to end the pause. */
  readonly until: string | undefined;
}

/** Stops uploads and nothing else: files are still found, reported and deleted by the rules. */
export interface UploadPause {
  /** Undefined where nobody stopped uploads, or the pause is over. */
  current(): PauseState | undefined;
  /** Milliseconds until the pause ends by itself; undefined where there is none, or it does not end by itself. */
  msLeft(): number | undefined;
  /** Begins a pause, which is durable when this returns. It replaces an earlier one. */
  begin(pause: { readonly by: string; readonly forMs: number | undefined }): PauseState;
  /** Ends the pause. Returns whether there was one. */
  end(): boolean;
}

interface PauseContext {
  readonly facts: Pick<StateFacts, "pause" | "notePause">;
  readonly clock: Clock;
  readonly bootId?: string | undefined;
}

/**
 * The end is counted by the machine's uptime, which nobody can set. After a restart of the machine only the wall clock is left,
 * and it may be wrong by years: it may end the pause, but never makes it longer than it was at first.
 */
export function createUploadPause({ facts, clock, bootId = readBootId() }: PauseContext): UploadPause {
  let known = facts.pause();
  if (known?.forMs !== undefined && (known.bootId === undefined || known.bootId !== bootId)) {
    known = { ...known, bootId, endsAtUptimeMs: clock.uptimeMs() + leftByWallClock(known, clock) };
    keep(facts, known);
  }
  const msLeft = () => (known?.endsAtUptimeMs === undefined ? undefined : known.endsAtUptimeMs - clock.uptimeMs());
  const isOver = () => (msLeft() ?? 1) <= 0;
  const show = ({ by, since, until }: KnownPause): PauseState => ({ by, since, until });
  return {
    current: () => (known && !isOver() ? show(known) : undefined),
    msLeft: () => (known && !isOver() ? msLeft() : undefined),
    begin({ by, forMs }) {
      const since = formatTimestamp(clock.nowNs());
      const until = forMs === undefined ? undefined : formatTimestamp(clock.nowNs() + BigInt(forMs) * 1_000_000n);
      const ends = forMs === undefined ? {} : { forMs, until, bootId, endsAtUptimeMs: clock.uptimeMs() + forMs };
      const pause = { by, since, ...ends };
      facts.notePause(pause);
      known = pause;
      return show(pause);
    },
    end() {
      const wasPaused = known !== undefined && !isOver();
      if (known) facts.notePause(undefined);
      known = undefined;
      return wasPaused;
    },
  };
}

/** With a full disk the agent starts nevertheless; the next start counts by the wall clock once more. */
function keep(facts: PauseContext["facts"], pause: KnownPause): void {
  try {
    facts.notePause(pause);
  } catch (error) {
    if (!isStateUnwritable(error)) throw error;
  }
}

function leftByWallClock({ forMs = 0, until }: KnownPause, clock: Clock): number {
  const leftMs = Date.parse(until ?? "") - Number(clock.nowNs() / 1_000_000n);
  return Number.isNaN(leftMs) ? forMs : Math.min(forMs, Math.max(0, leftMs));
}
