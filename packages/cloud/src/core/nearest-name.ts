import { closest, distance } from "fastest-levenshtein";

/** A name that differs in more than a third of its letters was not meant. */
const MOST_WRONG = 1 / 3;

/** Returns the known name that a misspelt one most probably means; upper and lower case count little. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const fold = (text: string) => text.toLowerCase().replaceAll(/[_.-]/g, "");
  if (known.length === 0) return undefined;
  const folded = closest(fold(name), known.map(fold));
  const isNear = distance(fold(name), folded) <= Math.max(1, fold(name).length * MOST_WRONG);
  return isNear ? known.find((one) => fold(one) === folded) : undefined;
}
