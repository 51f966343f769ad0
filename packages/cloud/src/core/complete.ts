type Single = string | number | bigint | boolean | null | undefined;

/**
 * An answer of the contract that names each of its fields, those that may be missing too: a field that is added to the contract
 * alone does not compile. What is undefined is left out of the JSON.
 */
export type Complete<T> = T extends Single
  ? T
  : T extends readonly (infer Item)[]
    ? Complete<Item>[]
    : string extends keyof T
      ? T
      : { readonly [K in keyof Required<T>]: Complete<T[K]> };

/** What a schema of the contract has read holds every field that there was to read. */
export function asParsed<T>(parsed: T): Complete<T> {
  return parsed as Complete<T>;
}
