import { edgeLimits } from "@downlink/protocol";
import type { Clock } from "../system/clock.ts";

/** Measures the link while something is being sent. */
export interface LinkSpeed {
  /** Notes that a transfer begins. Disposing ends it. */
  sending(): Disposable;
  note(bytes: number): void;
  /** Whether a part of the usual size would take longer than a minute. While nothing is sent, the last result holds. */
  isSlow(): boolean;
}

const WINDOW_MS = 30_000;
const SAMPLE_MS = 1000;
/** Before this, the bytes that the kernel buffers say nothing about the link. */
const FIRST_JUDGEMENT_MS = 15_000;
/** A part of the usual size takes a minute. */
export const SLOW_BYTES_PER_SECOND = edgeLimits.minPartBytes / 60;
/** A slow link must get this many times faster to count as a quick one again. */
const QUICK_AGAIN = 2;

export function createLinkSpeed(clock: Clock): LinkSpeed {
  const samples: { readonly atMs: number; bytes: number }[] = [];
  let senders = 0;
  let sinceMs = 0;
  let isSlow = false;
  const judge = () => {
    const nowMs = clock.monotonicMs();
    const activeMs = nowMs - sinceMs;
    if (senders === 0 || activeMs < FIRST_JUDGEMENT_MS) return;
    while (samples[0] && samples[0].atMs < nowMs - WINDOW_MS) samples.shift();
    const bytes = samples.reduce((sum, sample) => sum + sample.bytes, 0);
    const bytesPerSecond = (bytes / Math.min(activeMs, WINDOW_MS)) * 1000;
    isSlow = bytesPerSecond < SLOW_BYTES_PER_SECOND * (isSlow ? QUICK_AGAIN : 1);
  };
  return {
    sending() {
      if (senders++ === 0) {
        sinceMs = clock.monotonicMs();
        samples.length = 0;
      }
      return {
        [Symbol.dispose]() {
          judge();
          senders -= 1;
        },
      };
    },
    note(bytes) {
      const atMs = clock.monotonicMs();
      const last = samples.at(-1);
      if (last && atMs - last.atMs < SAMPLE_MS) last.bytes += bytes;
      else samples.push({ atMs, bytes });
    },
    isSlow() {
      judge();
      return isSlow;
    },
  };
}
