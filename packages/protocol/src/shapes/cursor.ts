import { z } from "zod";
import { deprecate } from "./deprecate.ts";
import { page } from "./list.ts";
import { StorableText } from "./text.ts";

/** The response headers of a cursor-paged list; each is there when there is such a page. spec: Common list conventions */
export const NEXT_CURSOR_HEADER = "x-pagination-next-cursor";
export const PREVIOUS_CURSOR_HEADER = "x-pagination-previous-cursor";

/** These fields are spread into the query of a cursor-paged list. */
export const cursorPage = {
  limit: page.limit,
  offset: deprecate(page.offset.meta({ description: "Use `cursor`; not both" }), "2026-11-21"),
  cursor: StorableText.min(1)
    .optional()
    .meta({
      description: `From \`${NEXT_CURSOR_HEADER}\` or \`${PREVIOUS_CURSOR_HEADER}\` of an answer to the same query; of all parameters only \`limit\` and \`include\` may differ. Any other is 400 with code CursorRejected: ask again without one. Pages that follow each other by cursors hold each row once that was there all the time, whatever rows come and go; only a row whose sorted value changes meanwhile may be missed or repeated.`,
    }),
};

/** These fields are spread into the query of a list that is paged by cursor, and of which any part may be asked for by its place too. */
export const cursorOrOffset = {
  limit: page.limit,
  offset: page.offset.meta({
    description:
      "How many rows are skipped; 0 where `cursor` is given. Where rows come and go meanwhile, pages by `offset` miss or repeat some, and pages by `cursor` do not",
  }),
  cursor: cursorPage.cursor,
};

/** A cursor-paged list declares these response headers. */
export const CursorHeaders = z.object({
  [NEXT_CURSOR_HEADER]: z
    .string()
    .optional()
    .meta({ description: "The `cursor` of the page after this one; absent on the last and on an empty one" }),
  [PREVIOUS_CURSOR_HEADER]: z
    .string()
    .optional()
    .meta({ description: "The `cursor` of the page before this one; absent on the first and on an empty one" }),
});
export type CursorHeaders = z.infer<typeof CursorHeaders>;
