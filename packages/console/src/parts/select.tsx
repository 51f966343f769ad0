import type { SelectHTMLAttributes } from "preact";
import { Field } from "./field.tsx";
import { showHidden } from "./show-hidden.ts";

type Others = "aria-describedby" | "aria-invalid" | "aria-label" | "class" | "disabled" | "id";

interface SelectProps<T extends string> extends Pick<SelectHTMLAttributes<HTMLSelectElement>, Others> {
  readonly value: T;
  /** The values with their texts. */
  readonly choices: readonly (readonly [value: T, text: string | undefined])[];
  readonly onChange: (value: T) => void;
}

/** Chooses one of some values. */
export function Select<T extends string>({ choices, onChange, ...own }: SelectProps<T>) {
  return (
    <select {...own} onChange={({ currentTarget }) => onChange(currentTarget.value as T)}>
      {choices.map(([value, text]) => (
        <option key={value} value={value}>
          {text && showHidden(text)}
        </option>
      ))}
    </select>
  );
}

export function SelectField<T extends string>({ label, hint, ...own }: SelectProps<T> & FieldTexts) {
  return (
    <Field label={label} hint={hint}>
      {(attributes) => <Select {...own} {...attributes} />}
    </Field>
  );
}

interface FieldTexts {
  readonly label: string;
  readonly hint?: string;
}

/** Returns choices among things that have names. */
export function namedChoices(all: readonly { readonly id: string; readonly name?: string | undefined }[]) {
  return all.map(({ id, name }) => [id, name] as const);
}
