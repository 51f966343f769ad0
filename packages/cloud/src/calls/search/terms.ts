import { queryLimits } from "@downlink/protocol";
import { invalid } from "../../core/errors.ts";

/**
 * One condition of a query; all of a query's terms must hold. A key of null stands for any key.
 *
 * - `value`: the key has one of the values.
 * - `present`: the key exists, whatever its value.
 * - `contains`: some key or stringified value contains the text, in upper or lower case.
 */
export type Term =
  | { readonly kind: "value"; readonly key: string | null; readonly values: readonly string[] }
  | { readonly kind: "present"; readonly key: string | null }
  | { readonly kind: "contains"; readonly text: string };

export interface QuerySyntax {
  /** The text with which every key begins in the query, but not in the terms, as `properties.` in device lists. */
  readonly prefix?: string;
  /** The name of the request's parameter, for error messages. The default is `query`. */
  readonly parameter?: string;
}

/** Characters that no stored text is searched for: `U+0000` cannot be stored, and `U+001F` separates the search text. */
const UNSEARCHABLE = /(?![\t\n\r])[\p{Cc}\p{Cs}]/u;

/**
 * Reads a query. spec: Query syntaxes
 *
 * query  = [ term { space term } ]                   space: one or more of space, tab, CR, LF
 * term   = key ":" "*" | key ":" value { "," value } | bare
 * key    = "*" (any) | quoted | one or more of any but space, quote, colon
 * value  = quoted | one or more of any but space, quote, comma; not "*", which is the term's form for presence
 * bare   = quoted | as an unquoted key; not "*"
 * quoted = '"' { any but quote, backslash | '\"' | '\\' } '"'
 *
 * A quoted `"*"` is a star. With a prefix, every key except `*` must have it; quotes go around the whole: `"properties.a b"`.
 * An empty text has no terms; an empty quoted value is the empty text. `queryLimits` of the contract bound it.
 * Throws `InvalidRequest`, which names the parameter and the character (from 1) where the text goes wrong.
 */
export function parseQuery(text: string, { prefix = "", parameter = "query" }: QuerySyntax = {}): Term[] {
  const reader: Reader = { text, prefix, parameter, at: 0 };
  checkCharacters(reader);
  const terms: Term[] = [];
  for (skipSpaces(reader); reader.at < text.length; skipSpaces(reader)) {
    if (terms.length === queryLimits.terms) fail(reader, `more than ${queryLimits.terms} terms`);
    terms.push(readTerm(reader));
  }
  return terms;
}

/** Prints terms so that {@link parseQuery} with the same syntax reads the same terms. */
export function printQuery(terms: readonly Term[], { prefix = "" }: Pick<QuerySyntax, "prefix"> = {}): string {
  return terms.map((term) => printTerm(term, prefix)).join(" ");
}

interface Reader {
  readonly text: string;
  readonly prefix: string;
  readonly parameter: string;
  at: number;
}

interface Word {
  readonly text: string;
  readonly isQuoted: boolean;
  readonly from: number;
}

function checkCharacters(reader: Reader) {
  const { characters } = queryLimits;
  if (reader.text.length > characters) fail(reader, `more than ${characters} characters`, characters);
  const at = reader.text.search(UNSEARCHABLE);
  if (at >= 0) fail(reader, "a control character", at);
}

function skipSpaces(reader: Reader) {
  while (/[ \t\r\n]/.test(reader.text.charAt(reader.at))) reader.at += 1;
}

function readTerm(reader: Reader): Term {
  const word = readWord(reader, /[ \t\r\n":]/g);
  if (reader.text[reader.at] !== ":") return toContains(reader, word);
  const key = toKey(reader, word);
  const values = readValues(reader);
  if (!values.some(isStar)) return { kind: "value", key, values: values.map((value) => value.text) };
  if (values.length > 1) fail(reader, "a * among values (quote it to search for a star)", values.find(isStar)?.from);
  return { kind: "present", key };
}

function toContains(reader: Reader, word: Word): Term {
  if (word.text === "") fail(reader, "an empty term", word.from);
  if (isStar(word)) fail(reader, "a * without a value (quote it to search for a star)", word.from);
  return { kind: "contains", text: word.text };
}

function toKey(reader: Reader, word: Word): string | null {
  if (isStar(word)) return null;
  if (word.text === "" || word.text === reader.prefix) fail(reader, "an empty key", word.from);
  if (!word.text.startsWith(reader.prefix)) fail(reader, `a key that does not begin with ${reader.prefix}`, word.from);
  const key = word.text.slice(reader.prefix.length);
  return isStar({ ...word, text: key }) ? null : key;
}

function readValues(reader: Reader): Word[] {
  const values: Word[] = [];
  do {
    reader.at += 1;
    if (values.length === queryLimits.values) fail(reader, `more than ${queryLimits.values} values`);
    const value = readWord(reader, /[ \t\r\n",]/g);
    if (value.text === "" && !value.isQuoted) fail(reader, "an empty value");
    values.push(value);
  } while (reader.text[reader.at] === ",");
  return values;
}

/** Reads up to a character of `ends`, which is not part of the word. */
function readWord(reader: Reader, ends: RegExp): Word {
  const from = reader.at;
  const isQuoted = reader.text[from] === '"';
  const text = isQuoted ? readQuoted(reader) : readUntil(reader, ends);
  const next = reader.text.charAt(reader.at);
  if (next === '"') fail(reader, "a quote inside a word (quote the whole)");
  if (isQuoted && next !== "" && next.search(ends) < 0) fail(reader, "text after a closing quote");
  return { text, isQuoted, from };
}

function readUntil(reader: Reader, ends: RegExp): string {
  const from = reader.at;
  ends.lastIndex = from;
  reader.at = ends.exec(reader.text)?.index ?? reader.text.length;
  return reader.text.slice(from, reader.at);
}

function readQuoted(reader: Reader): string {
  const from = reader.at;
  reader.at += 1;
  let text = readUntil(reader, /["\\]/g);
  while (reader.text[reader.at] === "\\") {
    const escaped = reader.text.charAt(reader.at + 1);
    if (escaped !== '"' && escaped !== "\\") fail(reader, 'a backslash before neither " nor \\');
    reader.at += 2;
    text += escaped + readUntil(reader, /["\\]/g);
  }
  if (reader.at >= reader.text.length) fail(reader, "a quote that is not closed", from);
  reader.at += 1;
  return text;
}

function isStar(word: Word): boolean {
  return word.text === "*" && !word.isQuoted;
}

function fail(reader: Reader, what: string, at = reader.at): never {
  const character = [...reader.text.slice(0, at)].length + 1;
  invalid(reader.parameter, `has ${what} at character ${character}`);
}

function printTerm(term: Term, prefix: string): string {
  if (term.kind === "contains") return printWord(term.text);
  const key = term.key === null ? "*" : printWord(prefix + term.key);
  return `${key}:${term.kind === "present" ? "*" : term.values.map(printWord).join(",")}`;
}

function printWord(text: string): string {
  return /^[^\s",:*\\]+$/.test(text) ? text : `"${text.replace(/["\\]/g, "\\$&")}"`;
}
