// Loaded into each process of tests. Where two values differ, `node:assert` compares the lines of both with memory and time that grow with the
// square of their number: of 16 kB of bytes 7 GB and 20 s, so that one failed test can take the whole machine down. What is large is compared
// here instead, and the first difference is named.

import assert, { AssertionError } from "node:assert/strict";
import { inspect, isDeepStrictEqual } from "node:util";

/** The number of values, bytes included, up to which `node:assert` shows all that differs. */
const FEW = 2000;
/** So much of a value is shown. */
const SHOWN = { depth: 2, maxArrayLength: 20, maxStringLength: 1000, breakLength: 140 } as const;

type DeepEqual = typeof assert.deepEqual;

export function shortenDifferences(deepEqual: DeepEqual): DeepEqual {
  return (actual: unknown, expected: unknown, message?: string | Error) => {
    if (sizeOf(actual, FEW) + sizeOf(expected, FEW) <= FEW) return deepEqual(actual, expected, message as string);
    if (isDeepStrictEqual(actual, expected)) return;
    if (message instanceof Error) throw message;
    const { at, one, other } = firstDifference(actual, expected);
    const difference = `${at || "the value"} is ${inspect(one, SHOWN)}, and was to be ${inspect(other, SHOWN)}`;
    throw new AssertionError({ message: [message, difference].filter(Boolean).join(": "), operator: "deepEqual" });
  };
}

/** Counts the values in a value, up to a number. */
function sizeOf(value: unknown, most: number): number {
  if (ArrayBuffer.isView(value)) return value.byteLength;
  if (typeof value !== "object" || value === null) return 1;
  let size = 1;
  for (const part of partsOf(value).values()) {
    if (size > most) break;
    size += sizeOf(part, most - size);
  }
  return size;
}

/** Lists the parts of a container by the text that leads to each. */
function partsOf(value: object): Map<string, unknown> {
  if (value instanceof Map) return new Map([...value].map(([key, part]) => [`.get(${inspect(key)})`, part]));
  if (value instanceof Set) return new Map([...value].map((part, index) => [`.values()[${index}]`, part]));
  const isList = Array.isArray(value) || ArrayBuffer.isView(value);
  return new Map(Object.entries(value).map(([key, part]) => [isList ? `[${key}]` : `.${key}`, part]));
}

interface Difference {
  /** What leads to the place. */
  readonly at: string;
  readonly one: unknown;
  readonly other: unknown;
}

function firstDifference(one: unknown, other: unknown, at = ""): Difference {
  const areContainers = typeof one === "object" && typeof other === "object" && one !== null && other !== null;
  if (!areContainers) return { at, one, other };
  if (one instanceof Uint8Array && other instanceof Uint8Array && one.constructor === other.constructor)
    return firstByte(one, other, at);
  const [parts, others] = [partsOf(one), partsOf(other)];
  for (const place of new Set([...parts.keys(), ...others.keys()]))
    if (!isDeepStrictEqual(parts.get(place), others.get(place)))
      return firstDifference(parts.get(place), others.get(place), `${at}${place}`);
  return { at, one, other }; // they differ in their kinds
}

function firstByte(one: Uint8Array, other: Uint8Array, at: string): Difference {
  let index = 0;
  while (index < one.length && one[index] === other[index]) index += 1;
  return { at: `${at}[${index}]`, one: one[index], other: other[index] };
}

assert.deepEqual = shortenDifferences(assert.deepEqual);
assert.deepStrictEqual = assert.deepEqual;
