import { effect } from "@preact/signals";
import { explainFailure, type Failure } from "../api/failure.ts";
import { awaySinceMs, isSignedOut, noteOutcome, retryAfterMs } from "../api/queries.ts";

/** The waits grow up to about half a minute. */
const MOST_DOUBLINGS = 6;
/** A failure that is no break of the link, such as an error of the service, is not waited out for ever. */
const MOST_FAILURES_IN_A_ROW = 8;

interface Insisting {
  readonly signal: AbortSignal;
  readonly onBreak: (isSignedOut: boolean) => void;
}

/**
 * Does again after each break what does no harm when it is done twice. A user whose session has ended signs in meanwhile. Throws what would
 * fail again, and the reason of the signal.
 */
export async function insist<T>(act: () => Promise<T>, { signal, onBreak }: Insisting): Promise<T> {
  for (let failures = 1; ; failures++) {
    signal.throwIfAborted();
    try {
      return await noteOutcome(act(), signal);
    } catch (error) {
      signal.throwIfAborted();
      const failure = explainFailure(error);
      const isEnded = failure.kind === "signedOut";
      const waitMs = retryAfterMs(error, Math.min(failures, MOST_DOUBLINGS));
      if (!isEnded && (waitMs === undefined || (!isBreak(failure) && failures > MOST_FAILURES_IN_A_ROW))) throw error;
      onBreak(isEnded);
      await (isEnded ? untilSignedIn(signal) : untilWorthTrying(waitMs!, signal));
    }
  }
}

function isBreak({ kind }: Failure): boolean {
  return kind === "away" || kind === "busy";
}

function untilSignedIn(signal: AbortSignal): Promise<void> {
  return waitFor(signal, (done) => effect(() => void (isSignedOut.value || done())));
}

/** The wait is over sooner when the browser is connected again, or another call of the page is answered again. */
function untilWorthTrying(waitMs: number, signal: AbortSignal): Promise<void> {
  return waitFor(signal, (done) => {
    const timer = setTimeout(done, waitMs);
    addEventListener("online", done);
    let wasAway = false;
    const stop = effect(() => {
      const isAway = awaySinceMs.value !== undefined;
      if (wasAway && !isAway) done();
      wasAway = isAway;
    });
    return () => {
      clearTimeout(timer);
      removeEventListener("online", done);
      stop();
    };
  });
}

async function waitFor(signal: AbortSignal, begin: (done: () => void) => () => void): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const abort = () => reject(signal.reason);
  signal.addEventListener("abort", abort);
  const end = begin(() => resolve());
  try {
    await promise;
  } finally {
    signal.removeEventListener("abort", abort);
    end();
  }
}
