import type { ComponentChildren, InputHTMLAttributes } from "preact";
import { Field } from "./field.tsx";

type Limits = "max" | "maxLength" | "min" | "minLength" | "pattern" | "required" | "step";
type Others = "autoComplete" | "class" | "defaultValue" | "disabled" | "name" | "spellcheck";

interface TextFieldProps extends Pick<InputHTMLAttributes<HTMLInputElement>, Limits | Others> {
  readonly label: string;
  readonly type?: "email" | "number" | "password" | "url";
  /** The text; absent where the form itself keeps what is typed, until it is sent. */
  readonly value?: string;
  readonly onChange?: (value: string) => void;
  readonly hint?: ComponentChildren;
  readonly problem?: string | undefined;
  /** The id of a list of texts that are offered. */
  readonly list?: string;
  /** How many lines are shown. Absent for a text of one line. */
  readonly lines?: number;
}

/** A field for a text, with the attributes of its input. */
export function TextField({ label, onChange, hint, problem, lines, ...own }: TextFieldProps) {
  const onInput = ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) =>
    onChange?.(currentTarget.value);
  return (
    <Field {...{ label, hint, problem }}>
      {(attributes) =>
        lines === undefined ? (
          <input {...(own as object)} {...attributes} onInput={onInput} />
        ) : (
          <textarea {...(own as object)} {...attributes} rows={lines} onInput={onInput} />
        )
      }
    </Field>
  );
}
