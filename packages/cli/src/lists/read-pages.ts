import { NEXT_CURSOR_HEADER } from "@downlink/protocol";
import type { Page } from "./list.ts";

/** The most rows that one call lists. */
const PAGE_ROWS = 500;

interface CursorAnswer<Row> {
  readonly rows: readonly Row[];
  readonly headers: { readonly [NEXT_CURSOR_HEADER]?: string | undefined };
}

/** Reads a list that is paged by a cursor, up to a limit. */
export async function readByCursor<Row>(
  limit: number,
  call: (page: { limit: number; cursor?: string }) => Promise<CursorAnswer<Row>>,
): Promise<Page<Row>> {
  const read: Row[] = [];
  let cursor: string | undefined;
  do {
    const size = Math.min(PAGE_ROWS, limit - read.length);
    const { rows, headers } = await call({ limit: size, ...(cursor === undefined ? {} : { cursor }) });
    read.push(...rows);
    cursor = headers[NEXT_CURSOR_HEADER];
  } while (cursor !== undefined && read.length < limit);
  return { rows: read, isMore: cursor !== undefined };
}

/** Reads a list that is paged by an offset, up to a limit; a row more is asked for, to know whether there is one. */
export async function readByOffset<Row>(
  limit: number,
  call: (page: { limit: number; offset: number }) => Promise<readonly Row[]>,
): Promise<Page<Row>> {
  const read: Row[] = [];
  for (let isOver = false; !isOver && read.length <= limit; ) {
    const size = Math.min(PAGE_ROWS, limit + 1 - read.length);
    const rows = await call({ limit: size, offset: read.length });
    read.push(...rows);
    isOver = rows.length < size;
  }
  return { rows: read.slice(0, limit), isMore: read.length > limit };
}
