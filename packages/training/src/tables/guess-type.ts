// JSON brings no types. Those fields get a column of their own whose values have one type in all the messages that are looked at.

import type { StructType, ValueType } from "@downlink/messages/describe-type";
import { isStruct, type Value } from "@downlink/messages/value";

/** The most columns of a guess; others are in the text of the message alone. */
const MAX_FIELDS = 500;
const MAX_DEPTH = 8;

/** `mixed`: values differ in their types, or have one that becomes no column. */
type Seen = "float64" | "bool" | "text" | "numbers" | "mixed" | Map<string, Seen>;

/** Guesses the fields of messages, in the order in which they come: numbers, truths, texts, lists of numbers, and objects of these. */
export function guessType(messages: Iterable<Value>): StructType {
  const seen = new Map<string, Seen>();
  for (const message of messages) if (isStruct(message)) look(seen, message, 0);
  return toStruct(seen, { left: MAX_FIELDS });
}

function look(into: Map<string, Seen>, message: Readonly<Record<string, Value>>, depth: number): void {
  for (const [name, value] of Object.entries(message)) {
    const before = into.get(name);
    const now = kindOf(value);
    if (now === undefined || name === "" || name === "__proto__" || name.includes(".")) continue;
    if (now === "object" && depth < MAX_DEPTH && (before === undefined || before instanceof Map)) {
      const inner = before ?? new Map<string, Seen>();
      into.set(name, inner);
      look(inner, value as Record<string, Value>, depth + 1);
    } else if (now === "object" || (before !== undefined && before !== now)) into.set(name, "mixed");
    else into.set(name, now);
  }
}

/** Returns undefined for values that fit to several types. */
function kindOf(value: Value): Exclude<Seen, Map<string, Seen>> | "object" | undefined {
  if (value === null) return undefined;
  if (typeof value === "number") return "float64";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "string") return "text";
  if (!Array.isArray(value)) return "object";
  if (value.length === 0) return undefined;
  return value.every((one) => typeof one === "number") ? "numbers" : "mixed";
}

function toStruct(seen: ReadonlyMap<string, Seen>, budget: { left: number }): StructType {
  const fields = new Map<string, ValueType>();
  for (const [name, one] of seen) {
    if (one === "mixed" || budget.left <= 0) continue;
    if (one instanceof Map) fields.set(name, toStruct(one, budget));
    else {
      budget.left -= 1;
      fields.set(name, one === "numbers" ? { list: "float64" } : one);
    }
  }
  return { fields };
}
