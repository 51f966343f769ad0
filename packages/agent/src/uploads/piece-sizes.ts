import { edgeLimits } from "@downlink/protocol";
import type { Clock } from "../system/clock.ts";
import { SLOW_BYTES_PER_SECOND } from "./link-speed.ts";

/**
 * How much of a part one request should carry, judged by what was acknowledged and never by what the kernel buffered. All uploads
 * of the process share it, as they share the link.
 */
export interface PieceSizes {
  /** The bytes of one request; Infinity where parts go whole. */
  mostBytes(): number;
  /** Whether requests go one after the other, because nothing is known about the link or it is slow. */
  isOneAtATime(): boolean;
  /** Resolves once several requests may go at a time. */
  untilManyAtATime(): Promise<void>;
  /** Notes that a request begins to carry bytes. */
  begin(): Carrying;
}

/** One request. It is noted how it ends where that says something about the link. */
export interface Carrying {
  confirmed(bytes: number): void;
  lost(): void;
}

/** From this rate on, in bytes per second, parts go whole. */
const QUICK_BYTES_PER_SECOND = 1_000_000;
/** On a quick link with a long delay, a request may take this long for the delay alone. */
const WAY_SECONDS = 3;
/** How long a piece should take: less than ten seconds even where the link gets a little slower. */
const PIECE_MS = 8000;
/** On a link that is cut again and again a piece takes this share of the time between two cuts. */
const SHARE_OF_CALM = 1 / 8;
/** After a cut, parts go whole again only when the link held for this long. */
const CALM_MS = 20_000;
/** A piece is at most this many times longer than the one before, and this many times shorter than one that was lost. */
const STEP = 4;

/**
 * It begins with the shortest pieces, also after each cut, because only acknowledged bytes say something about a link: the kernel buffers
 * megabytes at once, and goes on sending them after a request has ended. `limit` is the share of the link that uploads may take, in bytes
 * per second.
 */
export function createPieceSizes(clock: Pick<Clock, "monotonicMs">, limit: () => number): PieceSizes {
  const cuts = createCuts();
  const link = createRateGate();
  let most: number = edgeLimits.minPieceBytes;
  let confirmedBytes = 0;
  const confirm = (bytes: number, seconds: number, linkRate: number) => {
    // A short request takes the delay of its way there and back: it shows only that the rate is not lower.
    const isShort = bytes < edgeLimits.minPieceBytes || (most === Number.POSITIVE_INFINITY && seconds < WAY_SECONDS);
    if (isShort && linkRate < QUICK_BYTES_PER_SECOND) return;
    link.set(linkRate);
    const calmMs = cuts.calmMs(clock.monotonicMs());
    const ownRate = Math.min(bytes / seconds, limit());
    if (linkRate >= QUICK_BYTES_PER_SECOND && calmMs >= CALM_MS) most = Number.POSITIVE_INFINITY;
    else if (bytes * 2 >= most || most === Number.POSITIVE_INFINITY) most = pieceBytes(bytes, ownRate, calmMs);
  };
  return {
    mostBytes: () => most,
    isOneAtATime: link.isSlow,
    untilManyAtATime: link.untilQuicker,
    begin() {
      const [startMs, confirmedBefore] = [clock.monotonicMs(), confirmedBytes];
      cuts.noteSending(startMs);
      return {
        confirmed(bytes) {
          confirmedBytes += bytes;
          const seconds = Math.max(1, clock.monotonicMs() - startMs) / 1000;
          confirm(bytes, seconds, Math.min((confirmedBytes - confirmedBefore) / seconds, limit()));
        },
        lost() {
          if (!cuts.noteCut(startMs, clock.monotonicMs())) return;
          const shorter = most === Number.POSITIVE_INFINITY ? 0 : Math.floor(most / STEP);
          most = Math.max(edgeLimits.minPieceBytes, shorter);
          link.set(0);
        },
      };
    },
  };
}

/** Returns the size of the next piece, after one of `lastBytes` that went at `ownRate` bytes per second. */
function pieceBytes(lastBytes: number, ownRate: number, calmMs: number): number {
  const wanted = (ownRate * Math.min(PIECE_MS, calmMs * SHARE_OF_CALM)) / 1000;
  return Math.floor(Math.max(edgeLimits.minPieceBytes, Math.min(wanted, lastBytes * STEP)));
}

/** Judges the rate of all requests together. A link counts as slow while its rate is not known. */
function createRateGate() {
  let bytesPerSecond = 0;
  let quicker = Promise.withResolvers<void>();
  const isSlow = () => bytesPerSecond < SLOW_BYTES_PER_SECOND;
  return {
    isSlow,
    untilQuicker: () => quicker.promise,
    set(now: number): void {
      const wasSlow = isSlow();
      bytesPerSecond = now;
      if (wasSlow && !isSlow()) quicker.resolve();
      if (!wasSlow && isSlow()) quicker = Promise.withResolvers();
    },
  };
}

/** Measures how long the link holds between two cuts. */
function createCuts() {
  let sinceMs: number | undefined;
  let hasBeenCut = false;
  let lastCalmMs = Number.POSITIVE_INFINITY;
  return {
    noteSending(nowMs: number): void {
      sinceMs ??= nowMs;
    },
    /** False for a request that began before the last cut, which ended it together with the others. */
    noteCut(startMs: number, nowMs: number): boolean {
      if (hasBeenCut && startMs <= sinceMs!) return false;
      lastCalmMs = nowMs - (sinceMs ?? startMs);
      sinceMs = nowMs;
      hasBeenCut = true;
      return true;
    },
    /** How long the link held before the last cut, or since then where that is longer. Infinity where it was never cut. */
    calmMs: (nowMs: number) => (hasBeenCut ? Math.max(lastCalmMs, nowMs - sinceMs!) : Number.POSITIVE_INFINITY),
  };
}
