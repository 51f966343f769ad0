import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";

/** Returns what the page kept in this entry of the browser's history; undefined on a first visit. */
export function readEntry(key: string): unknown {
  return (history.state as Readonly<Record<string, unknown>> | null)?.[key];
}

/** Keeps a value until Back or Forward leads to this entry of the history again. It has to be one that JSON can write. */
export function keepInEntry(key: string, value: unknown): void {
  try {
    history.replaceState({ ...history.state, [key]: value }, "");
  } catch {
    // A browser may refuse a value that is too large, or too many of them: then Back shows the page as a first visit does.
  }
}

interface Kept {
  readonly key: string;
  /** Whether the content is as high as it will be. */
  readonly isReady: boolean;
}

/** Scrolls to where the user left the element, once, as soon as it is ready. */
export function useKeptScroll(scroller: RefObject<HTMLElement | null>, { key, isReady }: Kept): void {
  const isDone = useRef(false);
  useEffect(() => {
    const element = scroller.current;
    if (!element || !isReady || isDone.current) return;
    isDone.current = true;
    const topPx = readEntry(key);
    if (typeof topPx === "number") element.scrollTop = topPx;
  }, [isReady]);
  useEffect(() => {
    const element = scroller.current;
    const note = () => keepInEntry(key, Math.round(element?.scrollTop ?? 0));
    element?.addEventListener("scrollend", note, { passive: true });
    return () => element?.removeEventListener("scrollend", note);
  }, []);
}
