import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { usePause } from "../browser/use-pause.ts";
import { FloatCard } from "./float-card.tsx";
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
    <span ref={place} onPointerMove={onPointerMove} onPointerLeave={() => setShare(undefined)}>
      {children}
      {hasRested && (
        <FloatCard class="picture-card" anchorOf={() => boxOf(place.current!)}>
          {card(share)}
        </FloatCard>
      )}
    </span>
  );
}

const boxOf = (place: HTMLElement) => (place.firstElementChild ?? place).getBoundingClientRect();
