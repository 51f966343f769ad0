import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import "./float-card.css";

/** The place that a card belongs to, in pixels of the window. */
export type Anchor = Pick<DOMRect, "left" | "right" | "top" | "bottom">;

interface CardProps {
  readonly class?: string;
  /** Returns the place of what the card belongs to. */
  readonly anchorOf: (card: HTMLElement) => Anchor;
  readonly children: ComponentChildren;
}

/** A card for the mouse, above all that scrolls. It stands below what it belongs to and to the right, or where there is room, and stays in the window. */
export function FloatCard({ class: name = "", anchorOf, children }: CardProps) {
  const card = useRef<HTMLDivElement>(null);
  const anchor = useRef(anchorOf);
  anchor.current = anchorOf;
  useLayoutEffect(() => {
    const shown = card.current!;
    shown.showPopover();
    const sized = new ResizeObserver(() => place(shown, anchor.current(shown)));
    sized.observe(shown);
    return () => sized.disconnect();
  }, []);
  useLayoutEffect(() => place(card.current!, anchorOf(card.current!)));
  return (
    <div class={`float-card ${name}`} popover="manual" ref={card} aria-hidden="true">
      {children}
    </div>
  );
}

const GAP_PX = 8;

function place(card: HTMLElement, { left, right, top, bottom }: Anchor): void {
  const { offsetWidth: widthPx, offsetHeight: heightPx } = card;
  const isRight = right + widthPx + 2 * GAP_PX <= innerWidth;
  const latestPx = innerHeight - heightPx - GAP_PX;
  const belowPx = bottom + GAP_PX;
  const topPx = belowPx <= latestPx ? belowPx : top - heightPx - GAP_PX;
  card.style.left = `${isRight ? right + GAP_PX : Math.max(GAP_PX, left - widthPx - GAP_PX)}px`;
  card.style.top = `${topPx >= GAP_PX ? topPx : Math.max(GAP_PX, latestPx)}px`;
}
