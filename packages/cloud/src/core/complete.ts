type Single = string | number | bigint | boolean | null | undefined;

/**
 * An answer of the contract that names each of its fields, optional ones too, so that a field which is added to the contract alone does not
 * compile. A field that is undefined is left out of the JSON.
 */
export type Complete<T> = T extends Single
  ? T
  : T extends readonly (infer Item)[]
    ? Complete<Item>[]
    : string extends keyof T
      ? T
      : { readonly [K in keyof Required<T>]: Complete<T[K]> };

/** A value that a schema of the contract has read holds every field that was there. */
export function toComplete<T>(parsed: T): Complete<T> {
  return parsed as Complete<T>;
}
