import { useEffect, useRef } from "preact/hooks";
import "./tabs.css";

export interface Tab {
  readonly name: string;
  readonly href: string;
  readonly isCurrent: boolean;
  readonly count?: number | string | undefined;
}

/**
 * Tabs are links, because each is an address of its own: they can be sent, opened beside, and left by Back. Where they have no room, the
 * current one is scrolled into sight.
 */
export function Tabs({ label, tabs }: { label: string; tabs: readonly Tab[] }) {
  const strip = useRef<HTMLElement>(null);
  const words = tabs.map(({ name, isCurrent, count = "" }) => `${name} ${isCurrent} ${count}`).join();
  useEffect(() => showCurrent(strip.current!), [words]); // a number that comes later moves the tabs after it
  return (
    <nav class="tabs" aria-label={label} ref={strip}>
      {tabs.map(({ name, href, isCurrent, count }) => (
        <a key={name} href={href} aria-current={isCurrent ? "page" : undefined}>
          {name}
          {count !== undefined && <span class="muted"> {count}</span>}
        </a>
      ))}
    </nav>
  );
}

/** Scrolls the strip alone: the page stays where it is. */
function showCurrent(strip: HTMLElement): void {
  const tab = strip.querySelector("[aria-current]")?.getBoundingClientRect();
  const box = strip.getBoundingClientRect();
  if (!tab || (tab.left >= box.left && tab.right <= box.right)) return;
  strip.scrollLeft += tab.left + tab.width / 2 - (box.left + box.width / 2);
}
