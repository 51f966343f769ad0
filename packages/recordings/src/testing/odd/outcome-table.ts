/** Counts how files were dealt with, by what is odd in them. */
export interface OutcomeTable {
  add(kinds: readonly string[], outcome: string): void;
  /** One line for each kind: what files came to that are odd in nothing else, and what those that are odd in more. */
  print(): string;
  /** Over all files. */
  total(): string;
}

export function createOutcomeTable(): OutcomeTable {
  const alone = new Map<string, Map<string, number>>();
  const together = new Map<string, Map<string, number>>();
  const all = new Map<string, number>();
  return {
    add(kinds, outcome) {
      count(all, outcome);
      for (const kind of kinds) {
        const table = kinds.length === 1 ? alone : together;
        const counts = table.get(kind) ?? new Map<string, number>();
        table.set(kind, counts);
        count(counts, outcome);
      }
    },
    print() {
      const kinds = [...new Set([...alone.keys(), ...together.keys()])].sort();
      return kinds
        .map((kind) => `${kind}\n  alone: ${show(alone.get(kind))}\n  with others: ${show(together.get(kind))}`)
        .join("\n");
    },
    total: () => show(all),
  };
}

function count(counts: Map<string, number>, outcome: string): void {
  counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
}

function show(counts: ReadonlyMap<string, number> | undefined): string {
  if (!counts) return "none";
  const sorted = [...counts].sort(([, a], [, b]) => b - a);
  return sorted.map(([outcome, number]) => `${number} ${outcome}`).join(", ");
}
