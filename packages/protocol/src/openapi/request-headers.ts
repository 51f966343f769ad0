import { LEASE_HEADER } from "../edge/edge-limits.ts";
import { mayBeKept } from "../operations/answers.ts";
import {
  IDEMPOTENCY_HOURS,
  MAX_IDEMPOTENCY_KEY_CHARACTERS,
  type Method,
  type Operation,
} from "../operations/operation.ts";
import type { Json } from "./wire-schema.ts";

const text = { type: "string" } as const;

/** The headers that requests may have, by their names. */
const described = {
  [LEASE_HEADER]: "The `lease` of the answer to hello",
  "If-Match":
    "The `ETag` that `get` answered, without a query: if the thing has changed since, nothing is done (412). Where `get` answers none, it is 412 as well",
  "If-None-Match": "The `ETag` of an answer that the caller has: if it still holds, this one is 304",
  "If-Range": "The `ETag` of the file that the caller has a part of: if it is another one, the answer has all of it",
  "Last-Event-ID": "In a stream of events: the `since`",
  Range: "The bytes that are wanted: `bytes=0-99`",
} as const;

export type RequestHeader = keyof typeof described;

export function headerParameter(name: RequestHeader): Json {
  const schema = name === LEASE_HEADER ? { ...text, pattern: "^\\d{1,18}$", example: "1" } : text;
  return { name, in: "header", required: name === LEASE_HEADER, schema, description: described[name] };
}

/** Returns the headers that a call of the operation may have. */
export function headerParameters(operation: Operation): Json[] {
  const names: RequestHeader[] = [
    ...(needsLease(operation) ? ([LEASE_HEADER] as const) : []),
    ...(mayMatch(operation.method) && operation.path.includes("{") ? (["If-Match"] as const) : []),
    ...(operation.streamsEvents ? (["Last-Event-ID"] as const) : []),
    ...(mayBeKept(operation) ? (["If-None-Match"] as const) : []),
  ];
  return [...names.map(headerParameter), ...idempotencyParameters(operation)];
}

/** Says whether a call by this method may change a thing that the caller has read before. */
export function mayMatch(method: Method): boolean {
  return method === "put" || method === "patch" || method === "delete";
}

/** Hello takes the lease, in its body. */
function needsLease({ access, body }: Operation): boolean {
  return (access.kind === "agent" || access.kind === "site") && !(body && "lease" in body.shape);
}

export function idempotencyParameters({ makes }: Pick<Operation, "makes">): Json[] {
  if (makes === undefined || makes === "nothing") return [];
  const schema = { type: "string", minLength: 1, maxLength: MAX_IDEMPOTENCY_KEY_CHARACTERS };
  const description = [
    `Chosen at random by the caller for one thing to be made: a repeat of the call with the same key within ${IDEMPOTENCY_HOURS} hours makes no other`,
    repeats[makes.repeat],
    "With another request it is 409 `IdempotencyConflict`, and while the first call is under way, after five seconds, too.",
  ].join(" ");
  return [{ name: "Idempotency-Key", in: "header", required: false, schema, description }];
}

const repeats = {
  answer: "and gets the first answer, refusals included.",
  link: "and gets the first answer, with a link that may be another.",
  secret: "and gets 409 `SecretAlreadyShown`, which names it: what is shown once is not kept.",
} as const;
