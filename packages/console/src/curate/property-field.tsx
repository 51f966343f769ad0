import type { EventType } from "@downlink/protocol";
import { Field } from "../parts/field.tsx";
import { Select } from "../parts/select.tsx";

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
            <Select
              {...attributes}
              value={value}
              choices={[["", "—"], ...choices.map((choice) => [choice, choice] as const)]}
              onChange={onChange}
            />
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
