import { useEffect, useState } from "preact/hooks";

interface FilterProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** The one that `/` leads to. */
  readonly isSearch?: boolean;
}

/** A text that narrows a list. It counts once it is left or entered, so that half a word asks for nothing. */
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
