import { useEffect, useState } from "preact/hooks";

interface FilterProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** The text that stands in the empty field; absent for the label. */
  readonly placeholder?: string;
  /** Whether the key `/` leads to it. */
  readonly isSearch?: boolean;
}

/** A text that narrows a list. It takes effect once it is entered or the field is left, so that half a word asks for nothing. */
export function TypedFilter({ label, value, onChange, placeholder = label, isSearch = false }: FilterProps) {
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  const commit = () => {
    if (typed !== value) onChange(typed);
  };
  return (
    <input
      type="search"
      aria-label={label}
      placeholder={placeholder}
      value={typed}
      {...(isSearch ? { "data-search": true } : {})}
      onInput={({ currentTarget }) => setTyped(currentTarget.value)}
      onBlur={commit}
      onKeyDown={(event) => event.key === "Enter" && commit()}
      onSearch={commit}
    />
  );
}
