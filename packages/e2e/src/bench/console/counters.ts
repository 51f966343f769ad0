import type { Page } from "playwright-core";

/** The work that the page did since {@link resetCounters}. */
export interface Counted {
  /** Calls of `putImageData`. */
  readonly puts: number;
  /** Milliseconds of each frame that painted the lanes, in steps of 0.1 ms, which is what the browser's clock has. */
  readonly drawsMs: readonly number[];
  /** Milliseconds of each task that lasted longer than 50 ms. */
  readonly longTasksMs: readonly number[];
}

const INSTALL = `(() => {
  const counted = { puts: 0, drawsMs: [], longTasksMs: [] };
  globalThis.benchCounted = counted;
  const put = CanvasRenderingContext2D.prototype.putImageData;
  CanvasRenderingContext2D.prototype.putImageData = function (...given) {
    counted.puts += 1;
    return put.apply(this, given);
  };
  const request = globalThis.requestAnimationFrame;
  globalThis.requestAnimationFrame = (callback) => request.call(globalThis, (atMs) => {
    const [puts, startedMs] = [counted.puts, performance.now()];
    callback(atMs);
    if (counted.puts > puts) counted.drawsMs.push(performance.now() - startedMs);
  });
  new PerformanceObserver((seen) => {
    for (const { duration } of seen.getEntries()) counted.longTasksMs.push(duration);
  }).observe({ type: "longtask" });
})()`;

/** Counts in every document that the page opens from now on. */
export async function installCounters(page: Page): Promise<void> {
  await page.addInitScript(INSTALL);
}

export async function resetCounters(page: Page): Promise<void> {
  await page.evaluate("Object.assign(benchCounted, { puts: 0, drawsMs: [], longTasksMs: [] })");
}

export function readCounters(page: Page): Promise<Counted> {
  return page.evaluate<Counted>("benchCounted");
}

/** Resolves once the browser has painted what was changed before. */
export async function nextFrame(page: Page): Promise<void> {
  await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))");
}
