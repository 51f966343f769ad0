import type { MenuItem } from "../parts/menu.tsx";

const PRIORITIES = [
  { name: "Import, normal priority", priority: 0 },
  { name: "Import first", priority: 100 },
  { name: "Import last", priority: -100 },
] as const;

/** Returns the ways to import, for a menu. */
export function importItems(run: (priority: number) => void): readonly MenuItem[] {
  return PRIORITIES.map(({ name, priority }) => ({ text: name, onChoose: () => run(priority) }));
}
