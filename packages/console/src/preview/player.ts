import { useEffect, useRef, useState } from "preact/hooks";
import { useShortcuts } from "../parts/keys.ts";

export const SPEEDS = ["0.5", "1", "2", "4"] as const;
export type Speed = (typeof SPEEDS)[number];

export interface Player {
  readonly isPlaying: boolean;
  readonly speed: Speed;
  toggle(): void;
  setSpeed(speed: Speed): void;
}

interface Played {
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly momentNs: bigint;
  readonly onMoment: (momentNs: bigint) => void;
}

/** Moves the moment on with the clock, until the end or until the page is hidden. At the end it begins again. */
export function usePlayer({ startNs, endNs, momentNs, onMoment }: Played): Player {
  const [isPlaying, setPlaying] = useState(false);
  const [speed, setSpeed] = useState<Speed>("1");
  const at = useRef(momentNs);
  at.current = momentNs;
  useEffect(() => {
    if (!isPlaying) return;
    return followClock((elapsedMs) => {
      at.current = advance(at.current, elapsedMs * Number(speed), endNs);
      onMoment(at.current);
      if (at.current >= endNs) setPlaying(false);
    });
  }, [isPlaying, speed, endNs]);
  useEffect(() => {
    const pause = () => document.hidden && setPlaying(false);
    document.addEventListener("visibilitychange", pause);
    return () => document.removeEventListener("visibilitychange", pause);
  }, []);
  const toggle = () => {
    if (!isPlaying && momentNs >= endNs) onMoment(startNs);
    setPlaying(!isPlaying);
  };
  useShortcuts([{ keys: "Space", does: "Play or pause", run: toggle }]);
  return { isPlaying, speed, toggle, setSpeed };
}

/** Returns the moment so many milliseconds later, and no later than the end. */
export function advance(momentNs: bigint, elapsedMs: number, endNs: bigint): bigint {
  const nextNs = momentNs + BigInt(Math.round(Math.max(0, elapsedMs) * 1e6));
  return nextNs < endNs ? nextNs : endNs;
}

/** Calls before each picture of the screen with the time since the last one. Returns what ends that. */
function followClock(step: (elapsedMs: number) => void): () => void {
  let beforeMs: number | undefined;
  let frame = requestAnimationFrame(follow);
  function follow(nowMs: number): void {
    frame = requestAnimationFrame(follow);
    step(nowMs - (beforeMs ?? nowMs));
    beforeMs = nowMs;
  }
  return () => cancelAnimationFrame(frame);
}
