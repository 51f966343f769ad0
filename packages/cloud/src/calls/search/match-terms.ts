import type { Comparison } from "./json-path.ts";
import { parseNumberText, printNumber, spellingsOf } from "./number-text.ts";
import type { Term } from "./terms.ts";

export type Searchable = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/** Says whether all terms match: a simple implementation of what {@link jsonbWhere} answers in the database. spec: wire contract §3 */
export function matchTerms(terms: readonly Term[], object: Searchable, comparison?: Comparison): boolean {
  return terms.every((term) => matchTerm(term, object, comparison));
}

export function matchTerm(term: Term, object: Searchable, { readsNumbers = false }: Comparison = {}): boolean {
  const entries = Object.entries(object);
  if (term.kind === "contains") return entries.some((entry) => contains(entry, term.text));
  const ofKey = entries.filter(([key]) => term.key === null || key === term.key);
  if (term.kind === "present") return ofKey.length > 0;
  const isSame = (stored: Searchable[string], text: string) =>
    isEqual(stored, text) || (readsNumbers && isSameNumber(stored, text));
  return ofKey.some(([, stored]) => term.values.some((text) => isSame(stored, text)));
}

function isSameNumber(stored: Searchable[string], text: string): boolean {
  const texts = typeof stored === "string" || typeof stored === "object" ? [stored].flat() : [];
  const spelled = spellingsOf(text);
  return texts.some((one) => spelled.includes(one));
}

function isEqual(stored: Searchable[string], text: string): boolean {
  if (typeof stored === "string") return stored === text;
  if (typeof stored === "number") return stored === parseNumberText(text);
  if (typeof stored === "boolean") return String(stored) === text;
  return stored.includes(text);
}

function contains([key, stored]: [string, Searchable[string]], text: string): boolean {
  return [key, ...stringify(stored)].some((part) => foldCase(part).includes(foldCase(text)));
}

/** The elements of a multi-enum are separate texts. */
function stringify(stored: Searchable[string]): readonly string[] {
  if (typeof stored === "string") return [stored];
  if (typeof stored === "number") return [printNumber(stored)];
  if (typeof stored === "boolean") return [String(stored)];
  return stored;
}

/** Folds character by character, as the database does: no letter becomes two, and none depends on its neighbours. */
function foldCase(text: string): string {
  return Array.from(text, (character) => {
    const folded = character.toLowerCase();
    return folded.length === character.length ? folded : character;
  }).join("");
}
