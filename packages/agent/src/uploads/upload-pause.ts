import { formatTimestamp } from "@downlink/protocol";
import type { KnownPause } from "../state/known-facts.ts";
import { isStateUnwritable } from "../state/state-errors.ts";
import type { StateFacts } from "../state/state-facts.ts";
import { readBootId } from "../system/boot-id.ts";
import type { Clock } from "../system/clock.ts";
import { countOn, endIn, type WaitEnd } from "../system/wait-end.ts";

/** A pause of uploads that a user on the device began. Times are wall time. */
export interface PauseState {
  readonly by: string;
  readonly since: string;
  /** Undefined where `agent resume` has to end the pause. */
  readonly until: string | undefined;
}

/** Stops uploads and nothing else: files are still found, reported and deleted by the rules. */
export interface UploadPause {
  /** Undefined where uploads are not paused, or the pause is over. */
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

export function createUploadPause({ facts, clock, bootId = readBootId() }: PauseContext): UploadPause {
  const machine = { clock, bootId };
  let known = facts.pause();
  if (known && hasEnd(known)) {
    const counted = countOn(known, machine);
    if (counted !== known) keep(facts, counted);
    known = counted;
  }
  const msLeft = () => (known?.endsAtUptimeMs === undefined ? undefined : known.endsAtUptimeMs - clock.uptimeMs());
  const isOver = () => (msLeft() ?? 1) <= 0;
  const show = ({ by, since, until }: KnownPause): PauseState => ({ by, since, until });
  return {
    current: () => (known && !isOver() ? show(known) : undefined),
    msLeft: () => (known && !isOver() ? msLeft() : undefined),
    begin({ by, forMs }) {
      const nowNs = clock.nowNs(); // It is read once, so that the two times are as far apart as the pause is long.
      const end = forMs === undefined ? {} : endIn(forMs, { bootId, clock: { ...clock, nowNs: () => nowNs } });
      const pause: KnownPause = { by, since: formatTimestamp(nowNs), ...end };
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

function hasEnd(pause: KnownPause): pause is KnownPause & WaitEnd {
  return pause.forMs !== undefined;
}
