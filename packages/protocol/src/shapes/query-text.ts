import { StorableText } from "./text.ts";

/** The limits of the terms in a list's query. The values are those of one term. */
export const queryLimits = { characters: 4096, terms: 64, values: 64 } as const;

const { characters, terms, values } = queryLimits;
const limits = `At most ${terms} terms, each with at most ${values} values.`;

/** Terms, all of which the listed things match. `says` has no full stop. */
export function queryText(says: string, { example }: { example?: string } = {}) {
  const description = `${says}. ${limits}`;
  return StorableText.max(characters)
    .optional()
    .meta({ description, ...(example !== undefined && { example }) });
}
