// Trigrams find parts of paths and names of three letters and more. Shorter parts are searched row by row: an index of pairs of letters
// would add a half to the time that writing a recording takes.
//
// A text of one or two letters has no trigram; an index of pairs of letters finds it in 3 ms at 1,000,000 rows, while reading them takes 2
// s. It costs 60 µs for each new recording with a record of metadata, a sixth of its report.

import { Prisma } from "../../db/generated/client.ts";

type Sql = Prisma.Sql;

const WORD = "[\\p{L}\\p{N}]";
const HAS_TRIGRAM = new RegExp(`${WORD}{3}|${WORD}{2}(?!${WORD}).|(?!${WORD}).${WORD}`, "su");

/** The entry that very long texts have instead of their pairs. */
const ANY = "any";

/** Without a trigram of the text, their index would be read as a whole, which is slower than reading the table. */
export function hasTrigram(text: string): boolean {
  return HAS_TRIGRAM.test(text);
}

/**
 * A necessary condition: each two adjacent letters of the text are adjacent in what is searched, a text in lower case or a jsonb object; a
 * single letter begins some pair. `GIN (downlink_letter_pairs(searched))` serves it.
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
