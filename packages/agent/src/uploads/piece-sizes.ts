import { edgeLimits } from "@downlink/protocol";
import type { Clock } from "../system/clock.ts";
import { SLOW_BYTES_PER_SECOND } from "./link-speed.ts";

/**
 * How much of a part one request should carry, judged by what was acknowledged and never by what the kernel took. All uploads of
 * the process share it, as they share the link.
 */
export interface PieceSizes {
  /** Bytes; Infinity: parts go whole. */
  mostBytes(): number;
  /** Whether requests go one after the other: while nothing is known of the link, and while it is slow. */
  isOneAtATime(): boolean;
  /** Resolves when they need not any more. */
  untilManyAtATime(): Promise<void>;
  /** A request begins to carry bytes. */
  begin(): Carrying;
}

/** One request; told how it ends where that says something of the link. */
export interface Carrying {
  confirmed(bytes: number): void;
  lost(): void;
}

/** From this rate on parts go whole. Bytes a second. */
const QUICK_BYTES_PER_SECOND = 1_000_000;
/** A request on a quick link may take so long for the way alone. */
const WAY_SECONDS = 3;
/** So long a piece should take, that it takes no more than ten seconds where the link gets a little slower. */
const PIECE_MS = 8000;
/** On a link that is cut again and again a piece takes this share of the time between two cuts. */
const SHARE_OF_CALM = 1 / 8;
/** After a cut parts go whole again only when the link held for so long. */
const CALM_MS = 20_000;
/** A piece is at most so many times as long as the one before, and after one that was lost so many times shorter. */
const STEP = 4;

/**
 * Begins with the shortest pieces: of a link that nobody knows, as after each cut, only what it acknowledges is believed.
 * `limit` is what uploads may take of it, in bytes a second.
 */
export function createPieceSizes(clock: Pick<Clock, "monotonicMs">, limit: () => number): PieceSizes {
  const cuts = createCuts();
  const link = createRateGate();
  let most: number = edgeLimits.minPieceBytes;
  let confirmedBytes = 0;
  const confirm = (bytes: number, seconds: number, linkRate: number) => {
    // What is short takes the time of its way there and back, which says of the rate only that it is no lower.
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

/** After one of so many bytes that went at such a rate, in bytes a second. */
function pieceBytes(lastBytes: number, ownRate: number, calmMs: number): number {
  const wanted = (ownRate * Math.min(PIECE_MS, calmMs * SHARE_OF_CALM)) / 1000;
  return Math.floor(Math.max(edgeLimits.minPieceBytes, Math.min(wanted, lastBytes * STEP)));
}

/** Of all requests together; slow as long as it is not known. */
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

/** How long the link holds between two cuts. */
function createCuts() {
  let sinceMs: number | undefined;
  let hasBeenCut = false;
  let lastCalmMs = Number.POSITIVE_INFINITY;
  return {
    noteSending(nowMs: number): void {
      sinceMs ??= nowMs;
    },
    /** False for a request that began before the last cut: it went with the others. */
    noteCut(startMs: number, nowMs: number): boolean {
      if (hasBeenCut && startMs <= sinceMs!) return false;
      lastCalmMs = nowMs - (sinceMs ?? startMs);
      sinceMs = nowMs;
      hasBeenCut = true;
      return true;
    },
    /** As long as it held the last time, or for longer than that by now. Infinity: it was never cut. */
    calmMs: (nowMs: number) => (hasBeenCut ? Math.max(lastCalmMs, nowMs - sinceMs!) : Number.POSITIVE_INFINITY),
  };
}
