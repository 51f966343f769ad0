// A list that is cut looks whole to a caller that gave no limit. Only then are its rows counted, by asking whether single rows exist,
// because otherwise each page would cost a caller that pages by itself as much as many pages. Counting a list that is not cut costs
// nothing.

import { MAX_COUNTED, TOTAL_HEADER } from "@downlink/protocol";
import type { Context } from "hono";

interface Page {
  readonly offset: number;
  readonly limit: number;
  /** The number of rows of the page; undefined if it is not known before it is sent. */
  readonly count: number | undefined;
  /** Says whether a row with this number, from 0, exists. */
  readonly hasRow: (number: number) => Promise<boolean>;
}

/** Sets the header with the number of all rows, and the link to the next page. spec: wire contract §1 */
export async function nameTotal(c: Context, { offset, limit, count, hasRow }: Page): Promise<void> {
  if (limit === 0) return;
  if (count !== undefined && count < limit) {
    if (count > 0 || offset === 0) c.header(TOTAL_HEADER, String(offset + count));
    return;
  }
  const url = new URL(c.req.url);
  if (url.searchParams.has("limit")) {
    if (count === limit) nameNext(c, url, { offset, limit });
    return;
  }
  if (!(await hasRow(offset + limit))) {
    c.header(TOTAL_HEADER, String(offset + limit));
    return;
  }
  nameNext(c, url, { offset, limit });
  c.header(TOTAL_HEADER, await countRows(offset + limit + 1, hasRow));
}

function nameNext(c: Context, url: URL, { offset, limit }: { offset: number; limit: number }): void {
  url.searchParams.set("limit", String(limit));
  url.searchParams.set("offset", String(offset + limit));
  c.header("link", `<${url.pathname}${url.search}>; rel="next"`);
}

/** `least` rows are known to exist. */
async function countRows(least: number, hasRow: Page["hasRow"]): Promise<string> {
  if (least > MAX_COUNTED || (await hasRow(MAX_COUNTED))) return `${MAX_COUNTED}+`;
  let [low, high] = [least, MAX_COUNTED];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (await hasRow(middle)) low = middle + 1;
    else high = middle;
  }
  return String(low);
}
