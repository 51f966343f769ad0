import timers from "node:timers/promises";

/** It rests for so many times as long as it worked, so that it takes a seventh of the time at most. */
const RESTS = 6;
const LONGEST_REST_MS = 1000;

/**
 * Paces work that walks over everything a store has, so that calls have the processors and the database meanwhile: between two pages it
 * rests for as long as the former one was worked on. While a page is read, only the time in which this process computes counts as work: a
 * bucket that answers slowly is no reason to rest.
 */
export async function* pacePages<T>(pages: AsyncIterable<T>, signal?: AbortSignal): AsyncGenerator<T, void> {
  let workedMs: number | undefined;
  let beforePage = performance.eventLoopUtilization();
  for await (const page of pages) {
    const readingMs = performance.eventLoopUtilization(beforePage).active;
    if (workedMs !== undefined)
      await timers.setTimeout(Math.min(LONGEST_REST_MS, (workedMs + readingMs) * RESTS), undefined, { signal });
    const sinceMs = performance.now();
    yield page;
    workedMs = performance.now() - sinceMs;
    beforePage = performance.eventLoopUtilization();
  }
}
