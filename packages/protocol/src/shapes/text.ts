import { z } from "zod";

/**
 * The schema of every text that a caller gives: a database can hold it and every client can read it back. It has no NUL and no half of a
 * surrogate pair.
 */
export const StorableText = z.string().refine(isStorable, "must hold no NUL and no half of a surrogate pair");

/** One of the texts of a closed set, in an answer. A client of an earlier version takes one that a later version adds. */
export function knownText(texts: readonly string[]) {
  return z.string().meta({ enum: [...texts] });
}

/** A text that identifies one thing. */
export const Id = StorableText.min(1);

export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}

/**
 * A text from a file or a file system: it is never refused for its contents, because the sender has no other one to give. Characters that
 * cannot be stored are stored as escapes (`\u0000`, `\ud800`). A backslash before what looks like such an escape is stored as `\u005c`, so
 * that two texts never become equal and an escape is always recognized.
 */
export function fileText({ min = 0, max = Number.MAX_SAFE_INTEGER }: { min?: number; max?: number } = {}) {
  return z.codec(z.string().min(min).max(max), z.string(), { decode: escapeUnstorable, encode: unescapeUnstorable });
}

const UNSTORABLE = /\\(?=u(?:0000|005c|d[89a-f][\da-f]{2}))|\0|\p{Surrogate}/gu;
const ESCAPES = /\\u(0000|005c|d[89a-f][\da-f]{2})/g;

function escapeUnstorable(text: string): string {
  return text.replace(UNSTORABLE, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function unescapeUnstorable(text: string): string {
  return text.replace(ESCAPES, (_escape, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

const MAX_KEY_BYTES = 2048; // the longest key that an index entry can hold
const keyLimits = { min: 1, max: 1024 };

/**
 * Clients shorten a path in which a segment is `.` or `..`, encoded or not, so that no client could request a resource with such a name.
 */
export const PathSegment = StorableText.min(1).refine(
  (text) => text !== "." && text !== "..",
  "must not be . or .., which no path can carry",
);

/** A key that people give, unique within a project. An index and a path can hold it. */
export const UniqueKey = PathSegment.min(keyLimits.min)
  .max(keyLimits.max)
  .refine(fitsIndex, `must be at most ${MAX_KEY_BYTES} bytes long`);

/** A key from a file. A recording whose key no path can contain is found by its id. */
export const FileKey = fileText(keyLimits).refine(fitsIndex, `must be at most ${MAX_KEY_BYTES} bytes long`);

function fitsIndex(key: string): boolean {
  return new TextEncoder().encode(key).length <= MAX_KEY_BYTES;
}
