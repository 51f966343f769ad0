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
  /** The page begins at a cursor, so that the number of rows before it is not known. */
  readonly isOnward: boolean;
  /** The cursor of the next page, if there is one; undefined as a whole if the list has no cursors. */
  readonly next: { readonly cursor: string | undefined } | undefined;
  /** Says whether a row with this number, from 0, exists. */
  readonly hasRow: (number: number) => Promise<boolean>;
}

/** Sets the header with the number of all rows, and the link to the next page. spec: wire contract §1 */
export async function nameTotal(c: Context, page: Page): Promise<void> {
  const { offset, limit, isOnward, hasRow } = page;
  if (limit === 0) return;
  const isCut = c.req.query("limit") === undefined;
  if (await isLast(page, isCut)) {
    const total = isOnward ? undefined : await totalOfLast(page, isCut);
    if (total !== undefined) c.header(TOTAL_HEADER, total);
    return;
  }
  nameNext(c, page);
  if (isCut && !isOnward) c.header(TOTAL_HEADER, await countRows({ least: offset + limit + 1 }, hasRow));
}

/** A full page of a caller that pages by itself passes for one that others follow. */
async function isLast({ offset, limit, count, next, hasRow }: Page, isCut: boolean): Promise<boolean> {
  if (next) return next.cursor === undefined;
  if (count !== undefined && (count < limit || !isCut)) return count < limit;
  return !(await hasRow(offset + limit));
}

async function totalOfLast({ offset, limit, count, hasRow }: Page, isCut: boolean): Promise<string | undefined> {
  if (count !== undefined) return count > 0 || offset === 0 ? String(offset + count) : undefined;
  return isCut ? countRows({ least: offset, most: offset + limit }, hasRow) : undefined;
}

function nameNext(c: Context, { offset, limit, next }: Page): void {
  const url = new URL(c.req.url);
  const { searchParams } = url;
  searchParams.set("limit", String(limit));
  if (next) {
    searchParams.delete("offset");
    searchParams.set("cursor", next.cursor!);
  } else searchParams.set("offset", String(offset + limit));
  c.header("link", `<${url.pathname}${url.search}>; rel="next"`);
}

interface Bounds {
  /** So many rows are known to exist, */
  readonly least: number;
  /** and no more than these. */
  readonly most?: number;
}

async function countRows({ least, most = MAX_COUNTED }: Bounds, hasRow: Page["hasRow"]): Promise<string> {
  if (least > MAX_COUNTED || (most >= MAX_COUNTED && (await hasRow(MAX_COUNTED)))) return `${MAX_COUNTED}+`;
  let [low, high] = [least, Math.min(most, MAX_COUNTED)];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (await hasRow(middle)) low = middle + 1;
    else high = middle;
  }
  return String(low);
}
