import type { CallInput, Operation, Output } from "@downlink/protocol";
import { client } from "./client.ts";
import { queryKey } from "./query-key.ts";
import { type Query, type QueryOptions, useFetched } from "./use-query.ts";

const PAGE_ROWS = 500;

type RowOf<O extends Operation> = Output<O> extends readonly (infer T)[] ? T : never;

/** Asks for all of a list, page after page. For lists of which the whole is needed; pages of one answer after the other keep the browser quick. */
export function useAll<O extends Operation>(
  operation: O,
  input: CallInput<O>,
  options: QueryOptions = {},
): Query<readonly RowOf<O>[]> {
  const [path, text] = queryKey(operation.path, input);
  const fetchAll = async ({ signal }: { signal: AbortSignal }) => {
    const all: RowOf<O>[] = [];
    for (let offset = 0; ; offset += PAGE_ROWS) {
      const page = { ...(input as object), offset, limit: PAGE_ROWS } as CallInput<O>;
      const rows = (await client.call(operation, page, { signal })) as readonly RowOf<O>[];
      all.push(...rows);
      if (rows.length < PAGE_ROWS) return all;
    }
  };
  return useFetched<readonly RowOf<O>[]>([path, `all of ${text}`], fetchAll, options);
}
