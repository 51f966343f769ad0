import { showHidden } from "../parts/show-hidden.ts";
import { timeText } from "../time/zone.ts";
import { clamp, type Span } from "./preview-window.ts";

/** Something that happened to the device, and when. */
export interface FilmEvent extends Span {
  readonly id: string;
  readonly name: string;
}

interface EventsProps {
  readonly events: readonly FilmEvent[];
  readonly window: Span;
  readonly onMoment: (momentNs: bigint) => void;
}

/** Shows the events that touch a window, each as long as it lasts in it. Each leads to the moment at which it begins. */
export function FilmEvents({ events, window, onMoment }: EventsProps) {
  const lengthNs = Math.max(1, Number(window.endNs - window.startNs));
  const touching = events.filter(({ startNs, endNs }) => startNs <= window.endNs && endNs >= window.startNs);
  return touching.map(({ id, name, startNs, endNs }) => {
    const [fromNs, toNs] = [clamp(startNs, window), clamp(endNs, window)];
    const text = `${showHidden(name)}, ${timeText(startNs)}`;
    return (
      <button
        key={id}
        type="button"
        class="film-event"
        style={{
          left: `${(100 * Number(fromNs - window.startNs)) / lengthNs}%`,
          width: `${(100 * Number(toNs - fromNs)) / lengthNs}%`,
        }}
        title={text}
        aria-label={text}
        onClick={() => onMoment(fromNs)}
      />
    );
  });
}
