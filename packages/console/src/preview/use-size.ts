import { useEffect, useState } from "preact/hooks";

/** Returns how large an element is, in whole pixels of the page; 0 before it was laid out. */
export function useSize(frame: { readonly current: HTMLElement | null }): { widthPx: number; heightPx: number } {
  const [size, setSize] = useState({ widthPx: 0, heightPx: 0 });
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => {
      const { width, height } = entry!.contentRect;
      setSize({ widthPx: Math.floor(width), heightPx: Math.floor(height) });
    });
    observer.observe(frame.current!);
    return () => observer.disconnect();
  }, []);
  return size;
}
