import { Prisma } from "../db/generated/client.ts";

type Sql = Prisma.Sql;

const WORD = "[\\p{L}\\p{N}]";
const HAS_TRIGRAM = new RegExp(`${WORD}{3}|${WORD}{2}(?!${WORD}).|(?!${WORD}).${WORD}`, "su");

/** What very long texts have for their pairs. */
const ANY = "any";

/** Without a trigram of the text, their index would be read as a whole, which is slower than the table. */
export function hasTrigram(text: string): boolean {
  return HAS_TRIGRAM.test(text);
}

/**
 * Necessary: each two letters of the text that follow each other do so in what is searched, a text in lower case or a jsonb object;
 * a single letter begins some pair. Served by `GIN (downlink_letter_pairs(searched))`.
 */
export function hasPairs(searched: Sql, text: string): Sql {
  const letters = [...text];
  const pairs = letters.slice(1).map((letter, index) => quoteLexeme(`${letters[index]}${letter}`));
  const query = pairs.length === 0 ? `${quoteLexeme(text)}:*` : pairs.join(" & ");
  return Prisma.sql`downlink_letter_pairs(${searched}) @@ lower(${`${query} | ${ANY}`}::text)::tsquery`;
}

function quoteLexeme(text: string): string {
  return `'${text.replace(/['\\]/g, "$&$&")}'`;
}
