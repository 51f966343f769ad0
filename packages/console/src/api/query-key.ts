/** Makes the key of a query. Times are `bigint`, which JSON does not have. */
export function queryKey(path: string, input: unknown): readonly [string, string] {
  return [path, JSON.stringify(input, (_, value) => (typeof value === "bigint" ? `${value}n` : value))];
}
