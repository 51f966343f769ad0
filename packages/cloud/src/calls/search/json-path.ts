import { parseNumberText, spellingsOf } from "./number-text.ts";
import type { Term } from "./terms.ts";

export type KeyedTerm = Exclude<Term, { readonly kind: "contains" }>;

export function isKeyed(term: Term): term is KeyedTerm {
  return term.kind !== "contains";
}

/**
 * Makes of a term a jsonpath predicate over the object `@`. In lax mode a comparison looks into arrays, so one predicate serves texts and
 * multi-enums. A jsonpath string literal is a JSON string: nothing in a key or value can break out of it.
 */
export function toPredicate(term: KeyedTerm, { readsNumbers = false }: Comparison = {}): string {
  const member = term.key === null ? "@.*" : `@.${JSON.stringify(term.key)}`;
  if (term.kind === "present") return `exists(${member})`;
  const spelled = readsNumbers ? term.values.flatMap(spellingsOf) : [];
  const literals = new Set([...term.values.flatMap(toLiterals), ...spelled.map((text) => JSON.stringify(text))]);
  return `(${[...literals].map((literal) => `${member} == ${literal}`).join(" || ")})`;
}

export interface Comparison {
  /** Stored texts that read as numbers are compared by value, because the metadata of recordings knows no other type than texts. */
  readonly readsNumbers?: boolean;
}

/** Returns all that a value's text may stand for: the text itself, a number, a boolean. */
function toLiterals(text: string): string[] {
  const literals = [JSON.stringify(text)];
  const number = parseNumberText(text);
  if (number !== undefined) literals.push(JSON.stringify(number));
  if (text === "true" || text === "false") literals.push(text);
  return literals;
}
