/** The priorities that have a name. Any other one that a request has is shown by its number. */
const NAMED: readonly (readonly [priority: number, name: string])[] = [
  [100, "first"],
  [0, "normal"],
  [-100, "last"],
];

export function priorityChoices(priority: number): readonly { readonly priority: number; readonly name: string }[] {
  const named = NAMED.map(([value, name]) => ({ priority: value, name }));
  if (named.some((choice) => choice.priority === priority)) return named;
  return [...named, { priority, name: `${priority}` }].sort((a, b) => b.priority - a.priority);
}
