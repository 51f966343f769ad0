import { setTimeout as delay } from "node:timers/promises";

const PATIENCE_MS = 3000;

/** Resolves like the work, unless that takes longer than a health check waits. Rejects as the work does. */
export async function awaitInTime<T>(work: Promise<T>): Promise<T> {
  const ended = new AbortController();
  const late = delay(PATIENCE_MS, undefined, { signal: ended.signal }).then(() => {
    throw new TooLateError();
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    ended.abort();
    late.catch(() => {}); // it is not awaited any more
  }
}

export class TooLateError extends Error {
  override readonly name = "TooLateError";
}

/** Calls during running work share its result: many health checks cost no more than one. */
export function shareWork<T>(work: () => Promise<T>): () => Promise<T> {
  let underWay: Promise<T> | undefined;
  return () => {
    underWay ??= work().finally(() => {
      underWay = undefined;
    });
    return underWay;
  };
}
