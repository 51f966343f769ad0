/** One thing that was found: choosing it leads to an address, or does something. */
export interface Found {
  /** Unique among all that is shown. */
  readonly id: string;
  readonly text: string;
  /** Words that distinguish it from others of the same name. */
  readonly detail?: string | undefined;
  readonly href?: string;
  readonly run?: () => void;
}

export interface FoundGroup {
  readonly title: string;
  readonly found: readonly Found[];
}

/** Returns the things whose text has every word of a query, in any case and order. */
export function withWords(all: readonly Found[], query: string): readonly Found[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  return all.filter(({ text, detail = "" }) => {
    const searched = `${text} ${detail}`.toLowerCase();
    return words.every((word) => searched.includes(word));
  });
}

/** Returns a query of the service that finds a text as it was typed, in any key or value. */
export function quoteTerm(typed: string): string {
  const text = typed.replace(/\p{Cc}/gu, " ").replace(/["\\]/g, (found) => `\\${found}`);
  return `"${text}"`;
}

/** Returns which of `ids` is active after a key, or undefined if the key does not move. The ends lead to each other. */
export function activeAfter(key: string, ids: readonly string[], active: string | undefined): string | undefined {
  const at = ids.indexOf(active ?? "");
  if (key === "ArrowDown") return ids[(at + 1) % ids.length];
  if (key === "ArrowUp") return ids.at(at <= 0 ? -1 : at - 1);
  return undefined;
}
