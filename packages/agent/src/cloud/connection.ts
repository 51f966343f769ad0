import { ApiCallError } from "@downlink/client";
import type { ProblemBoard } from "../diagnostics/problems.ts";
import { createWakeSignal } from "../loops/wake-signal.ts";
import type { Clock } from "../system/clock.ts";
import { correctedNs, type Instant, noteInstant } from "../system/instant.ts";
import { problemOf, provedOver, roomTroubles } from "./describe-failure.ts";

export interface Connection {
  readonly state: "connecting" | "connected" | "offline" | "held elsewhere" | "refused";
  /** When this state began, in nanoseconds by the clock as it is set at the time of the call. */
  readonly sinceNs: bigint;
  readonly lastContactNs: bigint | undefined;
  readonly lastError: string | undefined;
}

/** Knows the state of the connection from the calls that succeeded and those that failed. */
export interface ConnectionMonitor {
  current(): Connection;
  noteSuccess(): void;
  noteFailure(failure: unknown): void;
  /** Waits for the delay, or until a call succeeds, or until aborted. */
  untilReachable(delayMs: number, signal: AbortSignal): Promise<void>;
}

interface Known extends Pick<Connection, "state" | "lastError"> {
  readonly since: Instant;
  readonly lastContact: Instant | undefined;
}

export function createConnectionMonitor({
  clock,
  problems,
}: {
  clock: Clock;
  problems: ProblemBoard;
}): ConnectionMonitor {
  const sleepers = new Set<() => void>();
  let known: Known = { state: "connecting", since: noteInstant(clock), lastContact: undefined, lastError: undefined };
  const show = (changes: Partial<Known>) => {
    const since = (changes.state ?? known.state) === known.state ? known.since : noteInstant(clock);
    known = { ...known, ...changes, since };
  };
  return {
    current() {
      const { since, lastContact, ...rest } = known;
      const lastContactNs = lastContact && correctedNs(lastContact, clock);
      return { ...rest, sinceNs: correctedNs(since, clock), lastContactNs };
    },
    noteSuccess() {
      show({ state: "connected", lastContact: noteInstant(clock), lastError: undefined });
      problems.clear(...provedOver);
      for (const wake of sleepers) wake();
    },
    noteFailure(failure) {
      const problem = problemOf(failure);
      if (!problem) return;
      const lastError = (failure as Error).message;
      if (roomTroubles.includes(problem)) return problems.raise(problem, lastError);
      problems.clear(...provedOver.filter((code) => code !== problem)); // There is one way to the cloud, and at most one problem on it.
      problems.raise(problem, lastError);
      show({ state: stateOf(failure), lastError });
    },
    async untilReachable(delayMs, signal) {
      const wakeSignal = createWakeSignal();
      sleepers.add(wakeSignal.notify);
      await wakeSignal.wait(signal, delayMs);
      sleepers.delete(wakeSignal.notify);
    },
  };
}

function stateOf(failure: unknown): Connection["state"] {
  if (!(failure instanceof ApiCallError) || failure.code === undefined || failure.status >= 500) return "offline";
  return failure.code === "LeaseHeldElsewhere" ? "held elsewhere" : "refused";
}
