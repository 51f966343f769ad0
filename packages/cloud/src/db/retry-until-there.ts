import { setTimeout as delay } from "node:timers/promises";
import { isDatabaseAway } from "./sql-state.ts";

const PAUSE_MS = 500;
/** An operator who looks at the log soon sees what the process waits for, and one who looks later is not flooded. */
const SAY_MS = 10_000;

interface Waiting {
  /** The name of the database in sentences. */
  readonly database: string;
  readonly log: { warn(message: string): void };
  /** The waiting ends when this is aborted. */
  readonly signal: AbortSignal;
}

/** Does `work`, and again as long as the database is away: machines start in any order. Throws any other error, and the last one at the end. */
export async function retryUntilThere<T>(work: () => Promise<T>, { database, log, signal }: Waiting): Promise<T> {
  for (let saidMs = Number.NEGATIVE_INFINITY; ; ) {
    try {
      return await work();
    } catch (error) {
      if (!isDatabaseAway(error) || signal.aborted) throw error;
      if (performance.now() - saidMs > SAY_MS) {
        log.warn(`waiting for ${database}: ${(error as Error).message || (error as { code?: string }).code}`);
        saidMs = performance.now();
      }
      await delay(PAUSE_MS, undefined, { signal }).catch(() => {
        throw error;
      });
    }
  }
}
