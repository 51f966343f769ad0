import type { z } from "zod";
import { type Day, deprecatedSince, namesOf } from "../shapes/deprecate.ts";
import type { Operation } from "./operation.ts";

/** The header of the answer to a call that uses something deprecated. spec: RFC 9745 */
export const DEPRECATION_HEADER = "deprecation";

type Deprecating = Pick<Operation, "deprecatedSince" | "query" | "body">;

/** The names of the parameters and fields that a call gives. */
interface Given {
  readonly query: readonly string[];
  readonly body: readonly string[];
}

/**
 * Returns the header for a call of the operation: the earliest day since which the operation, or a parameter or field that the call gives,
 * is deprecated. Returns undefined if none is. Fields within fields do not count.
 */
export function deprecationOf({ deprecatedSince: own, query, body }: Deprecating, given: Given): string | undefined {
  const days = [...(own ? [own] : []), ...daysOf(query, given.query), ...daysOf(body, given.body)];
  const [first] = days.sort();
  return first && `@${Date.parse(first) / 1000}`;
}

/** Says whether an answer of the operation may have the header. */
export function mayBeDeprecated(operation: Deprecating): boolean {
  const { query, body } = operation;
  const given = { query: query ? namesOf(query) : [], body: body ? namesOf(body) : [] };
  return deprecationOf(operation, given) !== undefined;
}

function daysOf(schema: z.ZodObject | undefined, given: readonly string[]): Day[] {
  return schema ? given.flatMap((name) => deprecatedSince(schema, name) ?? []) : [];
}
