/** The chosen topics; undefined for all. */
export type ChosenTopics = ReadonlySet<string> | undefined;

/** Returns the names that contain a text, in any case. */
export function filterTopics(names: readonly string[], text: string): readonly string[] {
  const sought = text.trim().toLowerCase();
  return sought === "" ? names : names.filter((name) => name.toLowerCase().includes(sought));
}

interface Switch {
  /** All that there are. */
  readonly names: readonly string[];
  /** The names that are switched. */
  readonly switched: readonly string[];
  readonly isOn: boolean;
}

/** Chooses some of the topics, or no longer; the choice of the others stays. */
export function switchTopics(chosen: ChosenTopics, { names, switched, isOn }: Switch): ChosenTopics {
  const all = new Set(chosen ?? names);
  for (const name of switched) {
    if (isOn) all.add(name);
    else all.delete(name);
  }
  return all.size === names.length ? undefined : all;
}
