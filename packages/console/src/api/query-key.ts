/** Makes the key of a query. JSON knows no `bigint`, which times are. */
export function queryKey(path: string, input: unknown): readonly [string, string] {
  return [path, JSON.stringify(input, (_, value) => (typeof value === "bigint" ? `${value}n` : value))];
}
