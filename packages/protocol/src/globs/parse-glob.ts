/** The meaning of a glob, as a regular expression without anything that would need backtracking. Its code units are folded. */
export type GlobNode =
  | { readonly kind: "unit"; readonly folded: string }
  | { readonly kind: "one"; readonly accepts: (folded: string) => boolean }
  | { readonly kind: "sequence"; readonly nodes: readonly GlobNode[] }
  | { readonly kind: "choice"; readonly nodes: readonly GlobNode[] }
  | { readonly kind: "repeat"; readonly node: GlobNode; readonly atLeast: 0 | 1 }
  /** One of the glob's `*`, `**`, `?` or `[a-z]`: what it matches can be named by its number. */
  | { readonly kind: "wildcard"; readonly node: GlobNode };

export interface ParsedGlob {
  readonly node: GlobNode;
  /** True if the glob begins with `!`, and means all paths except those that fit. */
  readonly isNegated: boolean;
}

/** Folds a UTF-16 code unit: two units are equal if their folded forms are. */
export type Fold = (unit: string) => string;

/** Folds as a JavaScript regular expression with the flag `i` does, so that no letter becomes an ASCII one. */
export function foldCase(unit: string): string {
  const upper = unit.toUpperCase();
  const staysAscii = upper.charCodeAt(0) >= 128 || unit.charCodeAt(0) < 128;
  return upper.length === 1 && staysAscii ? upper : unit;
}

/**
 * Parses literal text, `*`, `**`, `?`, `[a-z]`, `[^a-z]` or `[!a-z]`, `{a,b}`, `{a..c}`, `\` before what is meant literally, and `!` in
 * front. Throws a RangeError with a sentence for anything else.
 */
export function parseGlob(text: string, fold: Fold): ParsedGlob {
  const marks = /^!*/.exec(text)![0].length;
  const start = text.startsWith("./", marks) ? marks + 2 : marks;
  const reader: Reader = { text, at: start, fold };
  return { node: { kind: "sequence", nodes: parseTerms(reader, false) }, isNegated: marks % 2 === 1 };
}

interface Reader {
  readonly text: string;
  readonly fold: Fold;
  at: number;
}

type TermKind = "text" | "star" | "slash" | "class" | "braces";
interface Term {
  readonly kind: TermKind;
  readonly node: GlobNode;
}

const NOTHING: GlobNode = { kind: "sequence", nodes: [] };
const ANY = wildcardOf({ kind: "repeat", atLeast: 0, node: { kind: "one", accepts: () => true } });
const WITHIN_SEGMENT: GlobNode = { kind: "one", accepts: (unit) => unit !== "/" };
const STAR = wildcardOf({ kind: "repeat", atLeast: 0, node: WITHIN_SEGMENT });
const SLASH: GlobNode = { kind: "unit", folded: "/" };

/** Parses up to the end, or within braces to the comma or brace that ends an alternative. */
function parseTerms(reader: Reader, isInBraces: boolean): GlobNode[] {
  const terms: Term[] = [];
  while (reader.at < reader.text.length) {
    const unit = reader.text[reader.at]!;
    if (isInBraces && (unit === "," || unit === "}")) break;
    if (unit === "*") addStars(reader, terms, isInBraces);
    else terms.push(parseTerm(reader, terms));
  }
  return terms.map(({ node }) => node);
}

function parseTerm(reader: Reader, terms: Term[]): Term {
  const { text, fold } = reader;
  const unit = text[reader.at]!;
  if (unit === "[") return { kind: "class", node: wildcardOf(parseClass(reader)) };
  if (unit === "{") return { kind: "braces", node: parseBraces(reader) };
  if (unit === "\\") reader.at += 1;
  else if ('()|"'.includes(unit)) fail(reader, `${unit} has no meaning here; write \\${unit} for the character itself`);
  const literal = text[reader.at++];
  if (literal === undefined) fail(reader, "it must not end with a single \\");
  if (unit === "?") return { kind: "text", node: wildcardOf(WITHIN_SEGMENT) };
  if (unit === "/") return { kind: "slash", node: SLASH };
  const repeated = terms.at(-1);
  if (unit === "+" && (repeated?.kind === "class" || repeated?.kind === "braces")) {
    terms.pop();
    return { kind: "text", node: repeatedly(repeated.node) };
  }
  return { kind: "text", node: literalOf(literal, fold) };
}

/** Repeats a node. A repeated class is one wildcard, so that all that it matches is one text. */
function repeatedly(node: GlobNode): GlobNode {
  if (node.kind === "wildcard") return wildcardOf(repeatedly(node.node));
  return { kind: "repeat", node, atLeast: 1 };
}

function wildcardOf(node: GlobNode): GlobNode {
  return { kind: "wildcard", node };
}

function literalOf(literal: string, fold: Fold): GlobNode {
  return { kind: "unit", folded: fold(literal) };
}

/** Two stars that are a segment, or all of one before a brace, cross segments. Anywhere else, and as three or more, they mean a `*`. */
function addStars(reader: Reader, terms: Term[], isInBraces: boolean): void {
  const before = terms.at(-1)?.kind;
  const count = /^\*+/.exec(reader.text.slice(reader.at))![0].length;
  reader.at += count;
  const isSegmentStart = before === undefined || before === "slash";
  const isFirst = before === undefined && !isInBraces;
  const isCrossing = isSegmentStart && (isSegmentEnd(reader, isInBraces) || (isFirst && isExtension(reader)));
  if (count === 2 && isCrossing) addCrossing(reader, terms, isFirst);
  else terms.push({ kind: "star", node: STAR });
}

/** Adds what the stars that cross segments mean together with the slashes beside them. */
function addCrossing(reader: Reader, terms: Term[], isFirst: boolean): void {
  const { text } = reader;
  while (/^\/\*\*(\/|$)/.test(text.slice(reader.at))) reader.at += 3; // `**/**` says no more than `**`.
  const isBelow = terms.at(-1)?.kind === "slash" && terms.length > 1;
  const isBetween = text[reader.at] === "/" && (isBelow || isFirst);
  const isAllBelow = isBelow && reader.at === text.length && terms.at(-2)!.kind !== "star";
  if (isBetween) reader.at += 1;
  if (isBelow && (isBetween || isAllBelow)) terms.pop();
  if (isBetween) terms.push({ kind: "slash", node: isBelow ? DIRECTORIES_BETWEEN : DIRECTORIES_BEFORE });
  else terms.push({ kind: "star", node: isAllBelow ? ALL_BELOW : ANY });
}

function isSegmentEnd({ text, at }: Reader, isInBraces: boolean): boolean {
  const next = text[at];
  if (next === undefined || next === "/" || next === "{") return true;
  return isInBraces && (next === "," || next === "}");
}

/** A whole glob such as `**.mcap` also means files in directories. */
function isExtension({ text, at }: Reader): boolean {
  return /^(\.\w+)+$/.test(text.slice(at));
}

/** Stands between two segments: a/b fits as well as a/x/y/b. */
const DIRECTORIES_BETWEEN: GlobNode = choiceOf(SLASH, sequenceOf(SLASH, ANY, SLASH));
const DIRECTORIES_BEFORE: GlobNode = choiceOf(NOTHING, sequenceOf(ANY, SLASH));
/** Stands behind a segment a: it fits everything below a, and a itself. */
const ALL_BELOW: GlobNode = choiceOf(NOTHING, sequenceOf(SLASH, ANY));

function sequenceOf(...nodes: GlobNode[]): GlobNode {
  return { kind: "sequence", nodes };
}

function choiceOf(...nodes: GlobNode[]): GlobNode {
  return { kind: "choice", nodes };
}

/** Parses `{a,b}`, nested at will, or `{a..c}` of single characters. Otherwise the braces mean themselves. */
function parseBraces(reader: Reader): GlobNode {
  const { text, fold } = reader;
  const range = /^\{([A-Za-z0-9])\.\.([A-Za-z0-9])\}/.exec(text.slice(reader.at));
  if (range) {
    reader.at += range[0].length;
    const [first, last] = [range[1]!, range[2]!].sort();
    return classOf(`${unicodeOf(first!)}-${unicodeOf(last!)}`, fold);
  }
  const opened = reader.at++;
  const alternatives: GlobNode[] = [];
  for (;;) {
    alternatives.push({ kind: "sequence", nodes: parseTerms(reader, true) });
    const end = text[reader.at++];
    if (end === undefined) fail({ text, at: opened }, "a { has no }; write \\{ for the character itself");
    if (end === "}") break;
  }
  if (text.slice(opened, reader.at).includes(".."))
    fail(reader, "a range in braces is of single characters, such as {a..f}");
  if (alternatives.length > 1) return choiceOf(...alternatives);
  return sequenceOf(literalOf("{", fold), ...alternatives, literalOf("}", fold));
}

/** A plain class also stands for its own text, because there are files with names such as `run[1].mcap`. */
function parseClass(reader: Reader): GlobNode {
  const { text, fold } = reader;
  const opened = reader.at;
  const isNegated = text[opened + 1] === "^" || text[opened + 1] === "!";
  reader.at += isNegated ? 2 : 1;
  const items: string[] = [];
  for (let isFirst = true; isFirst || text[reader.at] !== "]"; isFirst = false)
    items.push(parseClassItem(reader, opened));
  reader.at += 1;
  const inner = text.slice(opened + 1, reader.at - 1);
  const chars = classOf(isNegated ? `^/${items.join("")}` : items.join(""), fold);
  if (/[-*+?.^${}(|)[\]\\]/.test(inner)) return chars;
  return choiceOf(chars, sequenceOf(...`[${inner}]`.split("").map((unit) => literalOf(unit, fold))));
}

function parseClassItem(reader: Reader, opened: number): string {
  const { text } = reader;
  if (text.startsWith("[:", reader.at)) fail(reader, "named classes are not known; write [a-z] or [0-9]");
  const first = readClassUnit(reader, opened);
  if (text[reader.at] !== "-" || text[reader.at + 1] === "]") return unicodeOf(first);
  reader.at += 1;
  const last = readClassUnit(reader, opened);
  if (last < first) fail(reader, `the range ${first}-${last} is the wrong way round`);
  return `${unicodeOf(first)}-${unicodeOf(last)}`;
}

function readClassUnit(reader: Reader, opened: number): string {
  if (reader.text[reader.at] === "\\") reader.at += 1;
  const unit = reader.text[reader.at++];
  return unit ?? fail({ text: reader.text, at: opened }, "a [ has no ]; write \\[ for the character itself");
}

/** A class is a regular expression of one code unit, which needs no backtracking. */
function classOf(items: string, fold: Fold): GlobNode {
  const expression = new RegExp(`^[${items}]$`, fold === foldCase ? "i" : "");
  return { kind: "one", accepts: (unit) => expression.test(unit) };
}

function unicodeOf(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

function fail({ text, at }: Pick<Reader, "text" | "at">, why: string): never {
  throw new RangeError(
    `"${text}" is no glob that is understood, at character ${Math.min(at + 1, text.length)}: ${why}`,
  );
}
