import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * How much the heap may grow after a collection, in per cent of the live objects. By default V8 lets the heap grow to four times their size
 * while a whole fleet connects at once, and gives back next to nothing: a waiting agent would take 80 kB, of which it needs 8.
 */
const MOST_GROWTH = 40;
/** The factor by which the young generation grows by default. */
const DEFAULT_YOUNG_GROWTH = 2;
/** Memory is given back at most once in this time: a process that visits many buckets would else collect for each of them. */
const GIVE_BACK_EVERY_MS = 60_000;
let givenBackMs = Number.NEGATIVE_INFINITY;
/** How many works keep the heap small at this moment: the setting is that of the whole process. */
let works = 0;

/** A process that serves calls collects garbage a little more often, and so stays small. */
export function boundHeapGrowth(): void {
  setFlagsFromString(`--heap-growing-percent=${MOST_GROWTH}`);
}

/** Keeps a command small that walks over everything a store has: what it throws away is collected at once. */
export function keepHeapSmall(): void {
  boundHeapGrowth();
  setFlagsFromString("--semi-space-growth-factor=1");
}

/**
 * Runs work that walks over everything a store has, and keeps the process small meanwhile. The memory that the process used before is
 * given back first, unless that was done within the last minute, because the young generation never shrinks while garbage is made. Once
 * the work is over, it grows as before.
 */
export async function withSmallHeap<T>(work: () => Promise<T>): Promise<T> {
  works += 1;
  setFlagsFromString("--semi-space-growth-factor=1");
  giveBack();
  try {
    return await work();
  } finally {
    works -= 1;
    if (works === 0) setFlagsFromString(`--semi-space-growth-factor=${DEFAULT_YOUNG_GROWTH}`);
  }
}

/** Only a collection of this kind shrinks the young generation and returns free pages to the system. It takes about 0.1 s. */
function giveBack(): void {
  const nowMs = performance.now();
  if (nowMs - givenBackMs < GIVE_BACK_EVERY_MS) return;
  givenBackMs = nowMs;
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as (options: { type: "major"; flavor: "last-resort" }) => void;
  collect({ type: "major", flavor: "last-resort" });
}
