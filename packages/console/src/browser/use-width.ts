import type { RefObject } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";

/** Returns the inner width of an element in pixels, and follows it; 0 before it was measured. */
export function useWidth(element: RefObject<HTMLElement | null>): number {
  const [widthPx, setWidthPx] = useState(0);
  useLayoutEffect(() => {
    const box = element.current;
    if (!box) return;
    const read = () => setWidthPx(box.clientWidth);
    const sized = new ResizeObserver(read);
    sized.observe(box);
    read();
    return () => sized.disconnect();
  }, []);
  return widthPx;
}
