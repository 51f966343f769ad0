import { ApiFailure } from "@downlink/client";
import { createBell } from "../bell.ts";
import type { Clock } from "../clock.ts";
import type { ProblemBoard } from "../problems.ts";
import { problemOf, provedOver } from "./describe-failure.ts";

export interface Connection {
  readonly state: "connecting" | "connected" | "offline" | "held elsewhere" | "refused";
  /** Wall times, nanoseconds. */
  readonly sinceNs: bigint;
  readonly lastContactNs: bigint | undefined;
  /** Server's clock minus ours, at the last hello. */
  readonly clockSkewMs: number | undefined;
  readonly lastError: string | undefined;
}

/** What the calls that came through and those that did not say about the way to the cloud. */
export interface ConnectionMonitor {
  current(): Connection;
  noteSuccess(): void;
  noteFailure(failure: unknown): void;
  noteSkew(clockSkewMs: number): void;
  /** Waits so long, or until a call comes through, or until aborted. */
  untilReachable(delayMs: number, signal: AbortSignal): Promise<void>;
}

export function createConnectionMonitor({
  clock,
  problems,
}: {
  clock: Clock;
  problems: ProblemBoard;
}): ConnectionMonitor {
  const sleepers = new Set<() => void>();
  const unknown = { lastContactNs: undefined, clockSkewMs: undefined, lastError: undefined };
  let current: Connection = { state: "connecting", sinceNs: clock.nowNs(), ...unknown };
  const show = (changes: Partial<Connection>) => {
    const sinceNs = (changes.state ?? current.state) === current.state ? current.sinceNs : clock.nowNs();
    current = { ...current, ...changes, sinceNs };
  };
  return {
    current: () => current,
    noteSuccess() {
      show({ state: "connected", lastContactNs: clock.nowNs(), lastError: undefined });
      problems.clear(...provedOver);
      for (const wake of sleepers) wake();
    },
    noteFailure(failure) {
      const problem = problemOf(failure);
      if (!problem) return;
      const lastError = (failure as Error).message;
      problems.clear(...provedOver.filter((code) => code !== problem)); // There is one way to the cloud, and one trouble on it.
      problems.raise(problem, lastError);
      show({ state: stateOf(failure), lastError });
    },
    noteSkew: (clockSkewMs) => show({ clockSkewMs }),
    async untilReachable(delayMs, signal) {
      const bell = createBell();
      sleepers.add(bell.ring);
      await bell.wait(signal, delayMs);
      sleepers.delete(bell.ring);
    },
  };
}

function stateOf(failure: unknown): Connection["state"] {
  if (!(failure instanceof ApiFailure) || failure.code === undefined || failure.status >= 500) return "offline";
  return failure.code === "LeaseHeldElsewhere" ? "held elsewhere" : "refused";
}
