import { zoneName } from "../time/format-time.ts";
import type { TypedRange } from "../time/range.ts";
import type { SpanProblems } from "../time/read-span.ts";
import { zone } from "../time/zone.ts";
import { TextField } from "./text-field.tsx";
import "./span-fields.css";

interface SpanFieldsProps {
  readonly typed: TypedRange;
  readonly problems: SpanProblems;
  readonly onChange: (changed: Partial<TypedRange>) => void;
}

/** Two fields for the ends of a span. A time without a zone is one of the zone that the pages show. */
export function SpanFields({ typed, problems, onChange }: SpanFieldsProps) {
  const name = zoneName(zone.value);
  return (
    <div class="row span-fields">
      <TextField
        label={`From (${name})`}
        problem={problems.from}
        value={typed.from}
        onChange={(from) => onChange({ from })}
      />
      <TextField label={`To (${name})`} problem={problems.to} value={typed.to} onChange={(to) => onChange({ to })} />
    </div>
  );
}
