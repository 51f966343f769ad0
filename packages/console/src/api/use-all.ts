import {
  type CallInput,
  type CursorHeaders,
  NEXT_CURSOR_HEADER,
  type Operation,
  type Output,
} from "@downlink/protocol";
import { client } from "./client.ts";
import { queryKey } from "./query-key.ts";
import { type Query, type QueryOptions, useFetched } from "./use-query.ts";

const PAGE_ROWS = 500;

type RowOf<O extends Operation> = Output<O> extends readonly (infer T)[] ? T : never;

/** Asks for all of a list that has cursors, page after page. It is for lists that are needed as a whole. */
export function useAll<O extends Operation>(
  operation: O,
  input: CallInput<O>,
  options: QueryOptions = {},
): Query<readonly RowOf<O>[]> {
  const [path, text] = queryKey(operation.path, input);
  const fetchAll = async ({ signal }: { signal: AbortSignal }) => {
    const all: RowOf<O>[] = [];
    let cursor: string | undefined;
    do {
      const page = { ...(input as object), cursor, limit: PAGE_ROWS } as CallInput<O>;
      const { output, headers } = await client.callWithHeaders(operation, page, { signal });
      all.push(...(output as readonly RowOf<O>[]));
      cursor = (headers as CursorHeaders)[NEXT_CURSOR_HEADER];
    } while (cursor !== undefined);
    return all;
  };
  return useFetched<readonly RowOf<O>[]>([path, `all of ${text}`], fetchAll, options);
}
