import type { EventType } from "@downlink/protocol";
import { Button } from "../parts/button.tsx";
import { Field } from "../parts/field.tsx";
import { namedChoices, SelectField } from "../parts/select.tsx";
import { TextField } from "../parts/text-field.tsx";
import { formatExact, zoneName } from "../time/format-time.ts";
import { TIME_HINT } from "../time/parse-time.ts";
import { zone } from "../time/zone.ts";
import type { EventFields } from "./event-form-values.ts";
import { PropertyField } from "./property-field.tsx";

interface FieldsetProps {
  readonly fields: EventFields;
  readonly problems: Readonly<Record<string, string>>;
  readonly types: readonly EventType[];
  readonly type: EventType | undefined;
  /** More than one: the event is marked on each of these. */
  readonly devices: readonly string[];
  readonly isNew: boolean;
  readonly onChange: (fields: EventFields) => void;
}

/** Edits an event. Its type says which properties it has. */
export function EventFieldset({ fields, problems, types, type, devices, isNew, onChange }: FieldsetProps) {
  const set = (changed: Partial<EventFields>) => onChange({ ...fields, ...changed });
  return (
    <>
      {isNew && devices.length > 1 && (
        <p>
          An event on each of {devices.length} devices: <span class="muted">{devices.join(", ")}</span>
        </p>
      )}
      {isNew && devices.length <= 1 && (
        <TextField
          label="Device"
          problem={problems.deviceName}
          value={fields.deviceName}
          onChange={(deviceName) => set({ deviceName })}
        />
      )}
      <TimeField label="Start" value={fields.start} problem={problems.start} onChange={(start) => set({ start })} />
      <TimeField
        label="End, empty for a moment"
        value={fields.end}
        problem={problems.end}
        onChange={(end) => set({ end })}
      />
      <SelectField
        label="Type"
        value={fields.eventTypeId}
        choices={[["", "none"], ...namedChoices(types)]}
        onChange={(eventTypeId) => set({ eventTypeId })}
      />
      {type?.properties.map((property) => (
        <PropertyField
          key={property.key}
          property={property}
          value={fields.properties[property.key] ?? ""}
          problem={problems[`property ${property.key}`]}
          onChange={(value) => set({ properties: { ...fields.properties, [property.key]: value } })}
        />
      ))}
      <TextField
        label="Metadata"
        hint="One key: value a line"
        problem={problems.metadata}
        value={fields.metadata}
        onChange={(metadata) => set({ metadata })}
        lines={3}
      />
    </>
  );
}

interface TimeFieldProps {
  readonly label: string;
  readonly value: string;
  readonly problem: string | undefined;
  readonly onChange: (value: string) => void;
}

function TimeField({ label, value, problem, onChange }: TimeFieldProps) {
  const now = () => onChange(formatExact(BigInt(Date.now()) * 1_000_000n));
  return (
    <Field label={`${label} (${zoneName(zone.value)})`} hint={`Such as ${TIME_HINT}`} problem={problem}>
      {(attributes) => (
        <span class="row">
          <input
            {...attributes}
            class="grow"
            value={value}
            onInput={({ currentTarget }) => onChange(currentTarget.value)}
          />
          <Button text="now" class="small" onClick={now} />
        </span>
      )}
    </Field>
  );
}
