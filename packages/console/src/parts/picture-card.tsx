import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { usePause } from "../browser/use-pause.ts";
import "./picture-card.css";

interface CardProps {
  readonly children: ComponentChildren;
  /** Makes what stands in the card, with a picture. `share` is where the mouse is: 0 at the left end, 1 at the right one. */
  readonly card: (share: number) => ComponentChildren;
}

/** A mouse that goes over a list asks for nothing. */
const RESTED_MS = 100;

/** Shows a card beside something while a mouse rests on it, above all that scrolls, if there is a picture to show. */
export function PictureCard({ children, card }: CardProps) {
  const [share, setShare] = useState<number | undefined>();
  const place = useRef<HTMLSpanElement>(null);
  const isBelow = share !== undefined;
  const hasRested = usePause(isBelow, RESTED_MS) && isBelow;
  const onPointerMove = ({ pointerType, clientX }: PointerEvent) => {
    const { left, width } = boxOf(place.current!);
    if (pointerType === "mouse") setShare(Math.min(1, Math.max(0, (clientX - left) / width)));
  };
  return (
    <span ref={place} class="picture-place" onPointerMove={onPointerMove} onPointerLeave={() => setShare(undefined)}>
      {children}
      {hasRested && (
        <div class="picture-card" popover="manual" ref={open} style={beside(boxOf(place.current!))} aria-hidden="true">
          {card(share)}
        </div>
      )}
    </span>
  );
}

const open = (card: HTMLElement | null) => card?.showPopover();
const boxOf = (place: HTMLElement) => (place.firstElementChild ?? place).getBoundingClientRect();

const WIDTH_PX = 240;
/** A picture as high as wide, and a line of text. */
const MOST_HEIGHT_PX = 280;
const GAP_PX = 8;

function beside({ left, right, top }: DOMRect) {
  const isRight = right + WIDTH_PX + 2 * GAP_PX < innerWidth;
  const latestPx = innerHeight - MOST_HEIGHT_PX - GAP_PX;
  return {
    width: `${WIDTH_PX}px`,
    left: `${isRight ? right + GAP_PX : Math.max(GAP_PX, left - WIDTH_PX - GAP_PX)}px`,
    top: `${Math.max(GAP_PX, Math.min(top - MOST_HEIGHT_PX / 3, latestPx))}px`,
  };
}
