import { useEffect, useState } from "preact/hooks";

interface Typed<T> {
  readonly typed: T;
  readonly setTyped: (typed: T) => void;
  /** From now on, what is typed now counts as saved. */
  readonly noteSaved: () => void;
}

/** Holds what is typed in a form of settings, and reports whether it differs from what was saved. */
export function useTyped<T extends object>(stored: T, onChanged: (isChanged: boolean) => void): Typed<T> {
  const [saved, setSaved] = useState(stored);
  const [typed, setTyped] = useState(stored);
  const isChanged = JSON.stringify(typed) !== JSON.stringify(saved);
  useEffect(() => onChanged(isChanged), [isChanged]);
  return { typed, setTyped, noteSaved: () => setSaved(typed) };
}
