import fc from "fast-check";

/** How two keys of a list are sorted: below 0 where the first comes first. */
export function order<T extends bigint | string | boolean>(a: T, b: T): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** A filter that mostly is not asked for: of many at once hardly a row fulfils all. */
export function maybe<T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.oneof({ arbitrary: fc.constant(undefined), weight: 3 }, { arbitrary: value, weight: 1 });
}
