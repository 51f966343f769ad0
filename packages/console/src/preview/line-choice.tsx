import { describePath, parsePath } from "./fields.ts";
import { previewLimits } from "./limits.ts";
import { toggleLine } from "./lines.ts";

interface ChoiceProps {
  readonly topic: string;
  readonly fields: readonly string[];
  /** Those that are drawn. */
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
}

/** Chooses which numbers of a topic are drawn as lines. */
export function LineChoice({ topic, fields, chosen, onChange }: ChoiceProps) {
  const isFull = chosen.length >= previewLimits.series;
  return (
    <fieldset class="field-list">
      <legend>
        Fields of {topic}{" "}
        <span class="muted">
          ({chosen.length} of at most {previewLimits.series} drawn)
        </span>
      </legend>
      {fields.length === 0 && <p class="muted">Its messages have no numbers.</p>}
      {fields.map((field) => {
        const isOn = chosen.includes(field);
        return (
          <label key={field} class="row">
            <input
              type="checkbox"
              checked={isOn}
              disabled={isFull && !isOn}
              onChange={() => onChange(toggleLine(chosen, field))}
            />
            <span class="mono">{describePath(parsePath(field))}</span>
          </label>
        );
      })}
    </fieldset>
  );
}
