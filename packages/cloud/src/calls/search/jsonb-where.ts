import { Prisma } from "../../db/generated/client.ts";
import { patternOfPart } from "../../db/text-sql.ts";
import { type Comparison, isKeyed, type KeyedTerm, toPredicate } from "./json-path.ts";
import { hasPairs, hasTrigram } from "./letter-pairs.ts";
import type { Term } from "./terms.ts";

type Sql = Prisma.Sql;

export interface Search extends Comparison {
  /** The default is trigrams. */
  readonly narrowing?: Narrowing;
}

/**
 * The index that narrows the rows for a bare text: trigrams, or also pairs of letters, if the column has an index of them and the text is
 * rare.
 */
export type Narrowing = "trigrams" | "pairs";

/**
 * The condition that all terms match the object in a jsonb column or expression. All texts are bound parameters. A null column gives null
 * or false. It needs the function `downlink_search_text` of the migrations.
 *
 * Indexes that serve it, of which a table has those that its size needs:
 * - `GIN (c jsonb_path_ops)`: `key:value`, exactly
 * - `GIN (c)`: `key:*` and `*:value`, and `key:value` with more rows to recheck
 * - `GIN (lower(c::text) gin_trgm_ops)`: bare text, but not one or two letters or digits alone
 * - `GIN (downlink_letter_pairs(c))`: these too; without it all rows are read for them
 */
export function jsonbWhere(column: Sql, terms: readonly Term[], search: Search = {}): Sql {
  return allOf(terms.map((term) => termWhere(column, term, search)));
}

/**
 * The condition that any one record of a recording's metadata, a jsonb array of `{name, metadata}`, matches all terms. The same indexes
 * serve it, except that `key:*` uses the index of texts too, and that pairs of letters are those of the JSON text: `GIN
 * (downlink_letter_pairs(lower(c::text)))`.
 */
export function metadataRecordsWhere(column: Sql, terms: readonly Term[], narrowing: Narrowing = "trigrams"): Sql {
  if (terms.length === 0) return ALWAYS;
  const keyed = terms.filter(isKeyed);
  const predicates = keyed.map((term) => toPredicate(term, { readsNumbers: true }));
  const path = `$[*].metadata${keyed.length > 0 ? ` ? (${predicates.join(" && ")})` : ""}`;
  const texts = terms.flatMap((term) => (term.kind === "contains" ? [term.text] : []));
  const present = keyed.flatMap((term) => (term.kind === "present" && term.key !== null ? [term.key] : []));
  const json = Prisma.sql`${column}::text`;
  const mayMatch = [...present, ...texts].map((text) =>
    isForPairs(text, narrowing) ? hasPairs(Prisma.sql`lower(${json})`, escapeInJson(text)) : jsonContains(json, text),
  );
  if (texts.length === 0) return allOf([...mayMatch, Prisma.sql`${column} @? ${path}::jsonpath`]);
  const inOneRecord = allOf(texts.map(recordContains));
  const exactly = Prisma.sql`EXISTS (SELECT FROM jsonb_path_query(${column}, ${path}::jsonpath) AS record(object) WHERE ${inOneRecord})`;
  const only = terms.length === 1 ? texts[0] : undefined;
  const isDecidedByNames =
    only !== undefined && isInOnePart(only) && !isInRecordKey(only) && !isForPairs(only, narrowing);
  return allOf([
    ...predicates.map((predicate) => Prisma.sql`${column} @? ${`$[*].metadata ? (${predicate})`}::jsonpath`),
    ...mayMatch,
    isDecidedByNames ? Prisma.sql`(${isInNoName(column, only)} OR ${exactly})` : exactly,
  ]);
}

/** The condition that each term matches in any of the named fields. spec: Query syntaxes, `queryFields` */
export function eventWhere<Field extends "metadata" | "properties">(
  columns: Readonly<Record<Field, Sql>>,
  terms: readonly Term[],
  { queryFields, narrowing }: { readonly queryFields: readonly Field[]; readonly narrowing: Narrowing },
): Sql {
  return allOf(
    terms.map((term) =>
      anyOf(
        queryFields.map((field) => termWhere(columns[field], term, { narrowing, readsNumbers: field === "metadata" })),
      ),
    ),
  );
}

/**
 * A necessary condition for all bare texts among the terms: the JSON text contains them. Any part of them may be left out between values.
 */
export function mayContainTexts(json: Sql, terms: readonly Term[]): Sql {
  return allOf(terms.flatMap((term) => (term.kind === "contains" ? [jsonContains(json, term.text)] : [])));
}

/** Says whether a bare text that trigrams cannot narrow is among the terms. */
export function hasShortText(terms: readonly Term[]): boolean {
  return terms.some((term) => term.kind === "contains" && !hasTrigram(escapeInJson(term.text)));
}

const ALWAYS = Prisma.sql`TRUE`;

function termWhere(column: Sql, term: Term, { narrowing = "trigrams", readsNumbers = false }: Search): Sql {
  if (term.kind === "contains") return objectContains(column, term.text, narrowing);
  if (term.kind === "present") return presentWhere(column, term.key);
  return Prisma.sql`${column} @? ${`$ ? (${toPredicate(term, { readsNumbers })})`}::jsonpath`;
}

/** The exact comparison takes ten times as long as that of the JSON text, which nearly always decides. */
function objectContains(column: Sql, text: string, narrowing: Narrowing): Sql {
  const exactly = containsExactly(column, text);
  if (isForPairs(text, narrowing)) return allOf([hasPairs(column, text), exactly]);
  const json = Prisma.sql`${column}::text`;
  const exactlyWhereEscaped = Prisma.sql`(strpos(${json}, '\\') = 0 OR ${exactly})`;
  return allOf([jsonContains(json, text), isInOnePart(text) ? exactlyWhereEscaped : exactly]);
}

/** The text has nothing that stands between keys and values, and no letters of null: in JSON without escapes, it is part of one of them. */
function isInOnePart(text: string): boolean {
  return /^[^\s\p{Cc}\p{Cs}"\\:,[\]{}]+$/u.test(text) && !"null".includes(text.toLowerCase());
}

/** The condition on the keys of each record of a recording's metadata. */
function isInRecordKey(text: string): boolean {
  return ["name", "metadata"].some((key) => key.includes(text.toLowerCase()));
}

/** Then a text that is in one part of the JSON text is in the metadata. This takes some 60 % of searching for it there. */
function isInNoName(records: Sql, text: string): Sql {
  const names = Prisma.sql`jsonb_path_query_array(${records}, '$[*].name')::text`;
  return Prisma.sql`(strpos(${records}::text, '\\') = 0 AND strpos(lower(${names}), lower(${text}::text)) = 0)`;
}

/** All values of a record are texts. */
function recordContains(text: string): Sql {
  const contains = (part: Sql) => Prisma.sql`strpos(lower(${part}), lower(${text}::text)) <> 0`;
  return Prisma.sql`EXISTS (SELECT FROM jsonb_each_text(record.object) AS member(key, value)
    WHERE ${contains(Prisma.sql`member.key`)} OR ${contains(Prisma.sql`member.value`)})`;
}

/** This does not use jsonpath, because no index serves the existence of a path. */
function presentWhere(column: Sql, key: KeyedTerm["key"]): Sql {
  return key === null ? Prisma.sql`${column} <> '{}'` : Prisma.sql`${column} ? ${key}::text`;
}

function isForPairs(text: string, narrowing: Narrowing): boolean {
  return narrowing === "pairs" && !hasTrigram(escapeInJson(text));
}

/** A necessary and cheap condition: the text, as JSON writes it inside a string, is part of the JSON text. */
function jsonContains(json: Sql, text: string): Sql {
  const asJson = escapeInJson(text);
  if (!hasTrigram(asJson)) return Prisma.sql`strpos(lower(${json}), lower(${asJson}::text)) <> 0`;
  return Prisma.sql`lower(${json}) LIKE lower(${patternOfPart(asJson)}::text)`;
}

function escapeInJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** This uses `<> 0`, for which the planner assumes that hardly a row is removed; with `> 0` it expects to lose two thirds. */
function containsExactly(object: Sql, text: string): Sql {
  return Prisma.sql`strpos(downlink_search_text(${object}), lower(${text}::text)) <> 0`;
}

function allOf(conditions: readonly Sql[]): Sql {
  return conditions.length === 0 ? ALWAYS : Prisma.sql`(${Prisma.join([...conditions], " AND ")})`;
}

function anyOf(conditions: readonly Sql[]): Sql {
  return conditions.length === 0 ? Prisma.sql`FALSE` : Prisma.sql`(${Prisma.join([...conditions], " OR ")})`;
}
