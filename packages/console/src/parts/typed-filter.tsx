import { useEffect, useRef, useState } from "preact/hooks";
import { useShortcuts } from "./keys.ts";

interface FilterProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** The text that stands in the empty field; absent for the label. */
  readonly placeholder?: string;
  /** Whether the key `f` leads to it. */
  readonly isSearch?: boolean;
}

/** A text that narrows a list. It takes effect once it is entered or the field is left, so that half a word asks for nothing. */
export function TypedFilter({ label, value, onChange, placeholder = label, isSearch = false }: FilterProps) {
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  const field = useRef<HTMLInputElement>(null);
  useShortcuts(isSearch ? [{ keys: "f", does: `Filter: ${label}`, run: () => field.current?.focus() }] : []);
  const commit = () => {
    if (typed !== value) onChange(typed);
  };
  return (
    <input
      type="search"
      aria-label={label}
      placeholder={placeholder}
      title={placeholder === label ? undefined : label}
      value={typed}
      ref={field}
      onInput={({ currentTarget }) => setTyped(currentTarget.value)}
      onBlur={commit}
      onKeyDown={(event) => event.key === "Enter" && commit()}
      onSearch={commit}
    />
  );
}
