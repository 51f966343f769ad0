import { useEffect, useState } from "preact/hooks";
import { queryKey } from "../api/query-key.ts";

/** Returns a value as it was when it last did not change for a moment, so that not every letter or step of a pointer is a call. */
export function usePause<T>(value: T, pauseMs: number): T {
  const [settled, setSettled] = useState(value);
  const text = queryKey("", value)[1];
  const isSettled = queryKey("", settled)[1] === text;
  useEffect(() => {
    if (isSettled) return;
    const timer = setTimeout(() => setSettled(value), pauseMs);
    return () => clearTimeout(timer);
  }, [text, isSettled]);
  return isSettled ? value : settled;
}
