import { retryDelayMs } from "@downlink/client";
import type { Changes } from "@downlink/protocol";

/** The shortest time between two calls where much happens. */
const CALM_MS = 2000;

interface Following {
  /** Asks what has changed since an answer's `next`, and waits for it; without one the service answers at once, and names no change. */
  readonly ask: (since: string | undefined, signal: AbortSignal) => Promise<Changes>;
  /** Takes an answer. The very first one counts as missed changes: the data in sight was requested at the same time, and may be older. */
  readonly heed: (changes: Changes) => void;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly signal: AbortSignal;
}

/** Asks for changes over and over, until the signal is aborted. A call that fails is repeated later and later, as the service asks. */
export async function followChanges(first: string | undefined, { ask, heed, wait, signal }: Following): Promise<void> {
  let since = first;
  for (let failures = 0; !signal.aborted; ) {
    try {
      const answer = await ask(since, signal);
      if (signal.aborted) return;
      const isFirst = since === undefined;
      const isQuiet = isFirst || (answer.changes.length === 0 && !answer.isMissed);
      since = answer.next;
      failures = 0;
      heed(isFirst ? { ...answer, isMissed: true } : answer);
      if (!isQuiet) await wait(CALM_MS, signal);
    } catch (error) {
      if (signal.aborted) return;
      await wait(retryDelayMs(error, ++failures), signal);
    }
  }
}
