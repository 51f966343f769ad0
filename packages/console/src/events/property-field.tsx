import type { EventType } from "@downlink/protocol";
import { Field } from "../parts/field.tsx";

interface PropertyProps {
  readonly property: EventType["properties"][number];
  readonly value: string;
  readonly problem: string | undefined;
  readonly onChange: (value: string) => void;
}

/** Edits a custom property, by the type of its values. */
export function PropertyField({
  property: { label, key, required, valueType, values = [] },
  value,
  problem,
  onChange,
}: PropertyProps) {
  const change = ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) =>
    onChange(currentTarget.value);
  const hint = valueType === "multi-enum" ? `Separated by commas: ${values.join(", ")}` : undefined;
  const choices = valueType === "boolean" ? ["true", "false"] : values;
  return (
    <Field label={required ? `${label || key} (required)` : label || key} hint={hint} problem={problem}>
      {(attributes) => {
        if (valueType === "enum" || valueType === "boolean")
          return (
            <select {...attributes} value={value} onChange={change}>
              <option value="">—</option>
              {choices.map((choice) => (
                <option key={choice}>{choice}</option>
              ))}
            </select>
          );
        if (valueType === "multiline-string")
          return <textarea {...attributes} rows={3} value={value} onInput={change} />;
        return (
          <input
            {...attributes}
            value={value}
            onInput={change}
            inputMode={valueType === "number" ? "decimal" : "text"}
          />
        );
      }}
    </Field>
  );
}
