import { z } from "zod";
import { holdsCredential } from "../shapes/credentials.ts";
import type { Operation } from "./operation.ts";

/** Says whether a caller may keep the answer, and ask by its `ETag` whether it still holds. An answer with a token or a signed link is never kept. */
export function mayBeKept({ method, response }: Operation): boolean {
  return method === "get" && response !== undefined && !holdsCredential(response);
}

/** Says whether the operation is a list that is paged by a cursor. */
export function isCursorPaged({ query }: Operation): boolean {
  return query !== undefined && "cursor" in query.shape;
}

/** Says whether the operation is a list that is paged by `limit` and `offset`, and perhaps by a cursor. */
export function isPaged({ method, query, response }: Operation): boolean {
  const isList = response instanceof z.ZodArray;
  return method === "get" && isList && query !== undefined && "limit" in query.shape && "offset" in query.shape;
}
