import { isNumberArray, isStruct, MAX_DEPTH, partOf, type Value } from "@downlink/messages/value";
import { previewLimits } from "./limits.ts";

/** The names from the message down to a value; places in arrays are names too. */
export type FieldPath = readonly string[];

/** Elements of an array that are offered: more are seldom looked at one by one. */
const MAX_ELEMENTS = 16;

/** Returns the fields of a message that can be drawn as a line, in their order, at most as many as anybody would look through. */
export function listFields(message: Value): FieldPath[] {
  const found: FieldPath[] = [];
  collect(message, [], found);
  return found;
}

export function readField(message: Value, path: FieldPath): number | undefined {
  let value: Value | undefined = message;
  for (const name of path) value = partOf(value, name);
  return toNumber(value);
}

/** Formats a path for addresses: a JSON pointer (RFC 6901), because a name may contain any character. */
export function formatPath(path: FieldPath): string {
  return path.map((name) => `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

export function parsePath(text: string): FieldPath {
  const parts = text.split("/").slice(1);
  return parts.map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** Formats a path for people: `points[3].x`. */
export function describePath(path: FieldPath): string {
  return path.map((name, index) => (/^\d+$/.test(name) ? `[${name}]` : `${index === 0 ? "" : "."}${name}`)).join("");
}

function collect(value: Value | undefined, path: FieldPath, found: FieldPath[]): void {
  if (found.length >= previewLimits.fields || path.length > MAX_DEPTH) return;
  if (toNumber(value) !== undefined) {
    if (path.length > 0) found.push(path);
    return;
  }
  for (const name of namesIn(value)) {
    if (found.length >= previewLimits.fields) return;
    collect(partOf(value, name), [...path, name], found);
  }
}

/** The names of a struct one by one: one of a million names is not listed to find the first five hundred. */
function* namesIn(value: Value | undefined): Generator<string> {
  if (value instanceof Uint8Array) return;
  if (Array.isArray(value) || isNumberArray(value)) {
    for (let index = 0; index < Math.min(value.length, MAX_ELEMENTS); index += 1) yield String(index);
  } else if (isStruct(value)) {
    for (const name in value) yield name;
  }
}

function toNumber(value: Value | undefined): number | undefined {
  if (typeof value === "number") return value;
  if (typeof value === "bigint" || typeof value === "boolean") return Number(value);
  return undefined;
}
