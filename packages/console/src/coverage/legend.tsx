import { toggleIn } from "../parts/selection.ts";
import { PARTS, type Part, type Shown } from "./shown.ts";

const WORDS: Readonly<Record<Part, string>> = {
  imported: "Imported",
  onItsWay: "On its way",
  edgeOnly: "On the device",
  failed: "Failed",
  event: "Events",
};

interface LegendProps {
  readonly shown: Shown;
  readonly onHide: (hidden: readonly Part[]) => void;
}

/** Explains the colours of the lanes, and shows or hides what has them. */
export function Legend({ shown, onHide }: LegendProps) {
  const hidden = PARTS.filter((part) => !shown.has(part));
  return (
    <ul class="legend" aria-label="What the lanes show">
      {PARTS.map((part) => (
        <li key={part}>
          <button
            type="button"
            class="legend-part"
            aria-pressed={shown.has(part)}
            onClick={() => onHide(toggleIn(hidden, part))}
          >
            <i class={`sign sign-${part}`} aria-hidden="true" /> {WORDS[part]}
          </button>
        </li>
      ))}
    </ul>
  );
}
