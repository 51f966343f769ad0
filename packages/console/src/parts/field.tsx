import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import "./field.css";

interface FieldProps {
  readonly label: string;
  /** The expected input, below the field. */
  readonly hint?: ComponentChildren;
  readonly problem?: string | undefined;
  /** Makes the input, which takes these attributes. */
  readonly children: (attributes: {
    readonly id: string;
    readonly "aria-describedby": string | undefined;
    readonly "aria-invalid": boolean;
  }) => ComponentChildren;
}

/** An input with its label, a hint, and what is wrong with what was typed. */
export function Field({ label, hint, problem, children }: FieldProps) {
  const id = useId();
  const isDescribed = problem !== undefined || hint !== undefined;
  const attributes = {
    id,
    "aria-describedby": isDescribed ? `${id}-hint` : undefined,
    "aria-invalid": problem !== undefined,
  };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children(attributes)}
      {isDescribed && (
        <p id={`${id}-hint`} class={problem === undefined ? "muted" : "field-problem"}>
          {problem ?? hint}
        </p>
      )}
    </div>
  );
}
