import type { ComponentChildren } from "preact";
import { Field } from "./field.tsx";

interface TextFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly hint?: ComponentChildren;
  readonly problem?: string | undefined;
  readonly maxLength?: number;
  readonly isRequired?: boolean;
  /** How many lines are shown. Absent for a text of one line. */
  readonly lines?: number;
}

export function TextField({ label, value, onChange, hint, problem, maxLength, isRequired, lines }: TextFieldProps) {
  const own = {
    ...{ value, maxLength, required: isRequired },
    onInput: ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) =>
      onChange(currentTarget.value),
  };
  return (
    <Field {...{ label, hint, problem }}>
      {(attributes) =>
        lines === undefined ? <input {...attributes} {...own} /> : <textarea {...attributes} {...own} rows={lines} />
      }
    </Field>
  );
}
