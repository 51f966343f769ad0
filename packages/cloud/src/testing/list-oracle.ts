import fc from "fast-check";

/** A value that a list is ordered by; a text of any characters is a `Buffer`. */
type Key = bigint | string | boolean | Buffer;

/** Sorts by a key, then by id; rows without a key come last in either direction. */
export function byKey<Row extends { readonly id: string }>(
  keyOf: (row: Row) => Key | null,
  sortOrder: "asc" | "desc" | undefined,
): (a: Row, b: Row) => number {
  const direction = sortOrder === "desc" ? -1 : 1;
  return (a, b) => {
    const [keyA, keyB] = [keyOf(a), keyOf(b)];
    if (keyA === null || keyB === null) return order(keyA === null, keyB === null) || direction * order(a.id, b.id);
    return direction * (order(keyA, keyB) || order(a.id, b.id));
  };
}

function order(a: Key, b: Key): number {
  if (Buffer.isBuffer(a)) return Buffer.compare(a, b as Buffer);
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Generates a filter that is mostly absent, because hardly a row fulfils many at once. */
export function maybe<T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.oneof({ arbitrary: fc.constant(undefined), weight: 3 }, { arbitrary: value, weight: 1 });
}
