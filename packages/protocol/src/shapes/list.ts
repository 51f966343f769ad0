import { z } from "zod";
import { queryInteger } from "./query.ts";

/** The most rows a page may hold; a greater `limit` is 400. spec: Limits */
export const MAX_LIMIT = 2000;

/**
 * How many rows a list has, over all of its pages: exactly up to 10,000, else `10000+`. Absent where the service cannot count them cheaply.
 */
export const TOTAL_HEADER = "x-pagination-total";
/** So many rows are counted. */
export const MAX_COUNTED = 10_000;

/** These fields are spread into the query of every list. A `limit` of 0 is legal and answers an empty list. */
export const page = {
  limit: queryInteger({ min: 0, max: MAX_LIMIT })
    .default(MAX_LIMIT)
    .meta({ description: "A list that this cuts names its next page in the header `link`" }),
  offset: queryInteger({ min: 0 }).default(0),
};

/**
 * So many characters of a text of any length count where a list is sorted by it; the id decides between equal ones. A cursor holds them, and
 * headers have little room.
 */
export const ORDERED_CHARACTERS = 500;

export const SortOrder = z.enum(["asc", "desc"]);
export type SortOrder = z.infer<typeof SortOrder>;

export function sorting<const T extends readonly [string, ...string[]]>(...fields: T) {
  return { sortBy: z.enum(fields).optional(), sortOrder: SortOrder.default("asc") };
}
