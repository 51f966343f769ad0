import type { Batches } from "../db/read-in-batches.ts";

const PAGE = 1000;

/** Returns everything that a list of the API has, page by page. */
export async function readEveryPage<T>(
  list: (page: { limit: number; offset: number }) => Promise<readonly T[] | Batches<T>>,
): Promise<T[]> {
  const all: T[] = [];
  for (;;) {
    const rows = await list({ limit: PAGE, offset: all.length });
    if (!Array.isArray(rows)) throw new Error("the list comes in batches");
    all.push(...rows);
    if (rows.length < PAGE) return all;
  }
}
