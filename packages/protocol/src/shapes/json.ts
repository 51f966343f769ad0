import { AnyObject } from "./any-keys.ts";
import { isStorable } from "./text.ts";

const MAX_DEPTH = 32;

/** A JSON object of any content, nested at most 32 deep. Its numbers are 64-bit floats. `maxCharacters` limits its JSON. */
export function jsonObject({ maxCharacters }: { maxCharacters: number }) {
  return AnyObject.superRefine((value, context) => {
    const fault = faultOf(value, maxCharacters);
    if (fault !== undefined) context.addIssue({ code: "custom", message: fault });
  });
}

/** A {@link jsonObject} whose texts a database can hold as texts. */
export function storableJsonObject(limits: { maxCharacters: number }) {
  return jsonObject(limits).refine(
    (value) => levelsOf(value).every((level) => level.every(isStorableItem)),
    "must hold no NUL and no half of a surrogate pair",
  );
}

function faultOf(value: unknown, maxCharacters: number): string | undefined {
  const levels = levelsOf(value);
  if (levels.length > MAX_DEPTH) return `must be nested at most ${MAX_DEPTH} deep`;
  if (levels.flat().some((item) => item === Number.POSITIVE_INFINITY || item === Number.NEGATIVE_INFINITY))
    return "must hold no number beyond a 64-bit float";
  if (JSON.stringify(value).length > maxCharacters) return `must hold at most ${maxCharacters} characters as JSON`;
  return undefined;
}

/** Lists keys and values by depth, because they may be nested deeper than any stack. It ends one level below what is allowed. */
function levelsOf(value: unknown): unknown[][] {
  const levels: unknown[][] = [];
  for (let level = [value]; level.length > 0 && levels.length <= MAX_DEPTH; ) {
    levels.push(level);
    const nested = level.filter((item) => typeof item === "object" && item !== null) as object[];
    level = nested.flatMap((item) => (Array.isArray(item) ? item : Object.entries(item).flat()) as unknown[]);
  }
  return levels;
}

function isStorableItem(item: unknown): boolean {
  return typeof item !== "string" || isStorable(item);
}
