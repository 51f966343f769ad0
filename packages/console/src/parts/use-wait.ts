import { useEffect, useState } from "preact/hooks";

const SECOND_MS = 1000;

/** Returns how many seconds are left of a wait that the service asks for; 0 once it is over. Another failure begins another wait. */
export function useWait(failure: { readonly retryAfterMs: number | undefined } | undefined): number {
  const [left, setLeft] = useState(0);
  useEffect(() => {
    const endMs = Date.now() + (failure?.retryAfterMs ?? 0);
    const tick = () => setLeft(Math.max(0, Math.ceil((endMs - Date.now()) / SECOND_MS)));
    tick();
    const timer = setInterval(tick, SECOND_MS);
    return () => clearInterval(timer);
  }, [failure]);
  return left;
}
