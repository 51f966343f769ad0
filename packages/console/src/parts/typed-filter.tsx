import { useEffect, useState } from "preact/hooks";

interface FilterProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** Whether the key `/` leads to it. */
  readonly isSearch?: boolean;
}

/** A text that narrows a list. It takes effect once it is entered or the field is left, so that half a word asks for nothing. */
export function TypedFilter({ label, value, onChange, isSearch = false }: FilterProps) {
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  const commit = () => {
    if (typed !== value) onChange(typed);
  };
  return (
    <input
      type="search"
      aria-label={label}
      placeholder={label}
      value={typed}
      {...(isSearch ? { "data-search": true } : {})}
      onInput={({ currentTarget }) => setTyped(currentTarget.value)}
      onBlur={commit}
      onKeyDown={(event) => event.key === "Enter" && commit()}
      onSearch={commit}
    />
  );
}
