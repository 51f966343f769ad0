import type { Log } from "../diagnostics/log.ts";
import type { ProblemBoard } from "../diagnostics/problems.ts";
import { pause } from "../loops/wake-signal.ts";
import { isStateCorrupt, isStateUnwritable, StateRefusedError } from "../state/state-errors.ts";

export interface Supervision {
  readonly log: Log;
  readonly problems: ProblemBoard;
  readonly signal: AbortSignal;
}

const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;

/**
 * Runs one loop of the agent until the signal is aborted. A loop that fails starts again after a pause, and the others go
 * on meanwhile; only state that must not or cannot be used ends the agent.
 */
export async function supervise(
  name: string,
  loop: (signal: AbortSignal) => Promise<void>,
  supervision: Supervision,
): Promise<void> {
  const { problems, signal } = supervision;
  let pauseMs = FIRST_PAUSE_MS;
  while (!signal.aborted) {
    const startMs = performance.now();
    const clearTimer = setTimeout(() => problems.clear("Internal"), LONGEST_PAUSE_MS);
    try {
      await loop(signal);
      return;
    } catch (error) {
      if (signal.aborted) return;
      showFailure(supervision, name, error);
    } finally {
      clearTimeout(clearTimer);
    }
    const hasRunLong = performance.now() - startMs > LONGEST_PAUSE_MS;
    if (hasRunLong) pauseMs = FIRST_PAUSE_MS;
    await pause(pauseMs, signal);
    pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2);
  }
}

/** Throws the error again where a restart of the loop cannot help. */
function showFailure({ log, problems }: Supervision, loop: string, error: unknown): void {
  if (error instanceof StateRefusedError || isStateCorrupt(error)) throw error;
  const detail = error instanceof Error ? error.message : String(error);
  problems.raise(isStateUnwritable(error) ? "StateUnwritable" : "Internal", `${loop}: ${detail}`);
  log.error({ err: error, loop }, "a loop failed; it starts over");
}
