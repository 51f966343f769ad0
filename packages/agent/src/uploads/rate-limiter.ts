import { pause } from "../loops/wake-signal.ts";
import type { Clock } from "../system/clock.ts";

/** Limits the rate of all transfers of the process together. */
export interface RateLimiter {
  /** Passes a body on no faster than the limit allows, in chunks so small that no burst is longer than half a second. */
  pace(body: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array>;
}

/** How long one chunk takes at the limit. It is short, so that a new limit holds at once. */
const PIECE_MS = 100;
const SMALLEST_PIECE_BYTES = 1024;
/** How much unused time may be made up for, because timers fire late. */
const CREDIT_MS = 400;
const PAUSED_LOOK_MS = 250;

/** `bytesPerSecond` is asked before each piece: 0 pauses, Infinity sets no limit. */
export function createRateLimiter(bytesPerSecond: () => number, clock: Clock): RateLimiter {
  /** The time at which all bytes so far would have passed at the limit. */
  let freeAtMs = 0;
  const take = async (bytes: number, signal: AbortSignal): Promise<void> => {
    let rate = bytesPerSecond();
    for (; rate === 0; rate = bytesPerSecond()) {
      await pause(PAUSED_LOOK_MS, signal);
      signal.throwIfAborted();
    }
    const nowMs = clock.monotonicMs();
    const startMs = Math.max(freeAtMs, nowMs - CREDIT_MS);
    freeAtMs = startMs + (bytes / rate) * 1000;
    if (startMs > nowMs) await pause(startMs - nowMs, signal);
    signal.throwIfAborted();
  };
  return {
    async *pace(body, signal) {
      for await (const block of body) {
        for (let at = 0; at < block.byteLength; ) {
          const rate = bytesPerSecond();
          const pieceBytes = Math.max(SMALLEST_PIECE_BYTES, Math.floor((rate * PIECE_MS) / 1000));
          const piece = rate === Number.POSITIVE_INFINITY ? block.subarray(at) : block.subarray(at, at + pieceBytes);
          if (rate !== Number.POSITIVE_INFINITY) await take(piece.byteLength, signal);
          yield piece;
          at += piece.byteLength;
        }
      }
    },
  };
}
