import { INCARNATION_HEADER } from "../edge/edge-limits.ts";
import { isPaged, mayBeKept } from "../operations/answers.ts";
import { DEPRECATION_HEADER, mayBeDeprecated } from "../operations/deprecation.ts";
import { IGNORED_HEADER, type Operation, REPLAYED_HEADER } from "../operations/operation.ts";
import { DAMAGE_HEADER, MISSING_HEADER } from "../resources/exports.ts";
import { MAX_COUNTED, TOTAL_HEADER } from "../shapes/list.ts";
import type { Json } from "./wire-schema.ts";

const text = { type: "string" } as const;

/** The headers of answers, which stand once in the components of the document. Those of HTTP itself, like `Vary`, are left out. */
const described = {
  "X-Request-Id":
    "The id that the request named if it is well-formed, else a new one: quote it when you report a fault",
  "RateLimit-Policy":
    "The rate that applies to the caller: `q` calls in `w` seconds. After draft-ietf-httpapi-ratelimit-headers-10",
  RateLimit: "How many calls are left (`r`), and after how many seconds all of them are again (`t`)",
  "Retry-After": "How many seconds to wait before the call is repeated",
  "WWW-Authenticate": "The kind of credential that is required",
  "Accept-Ranges": "`bytes`: a part may be asked for with `Range`",
  "Content-Disposition": "The name of the file",
  "Content-Range": "The range of bytes that the answer has, and the size of the whole; with 416 only the size",
  ETag: "The version of the answer, for `If-None-Match`",
  Link: 'The next page of a list that `limit` cuts, as a path: `<…>; rel="next"`. A list that has cursors names it by `cursor`',
  Location: "The address to go to",
  "Set-Cookie": "The cookie of the session, or of a sign-in that has begun at the provider",
  [IGNORED_HEADER]:
    "The names in the query and in the body that nothing reads, percent-encoded and separated by commas",
  [DEPRECATION_HEADER]:
    "Since when the operation, or a parameter or a field of the body that the call gives, is deprecated: `@` and Unix seconds. After RFC 9745",
  [REPLAYED_HEADER]: "`true`: the call repeats one with the same `Idempotency-Key`, and this is the answer of that one",
  [TOTAL_HEADER]: `The number of rows on all pages, up to ${MAX_COUNTED}; if there are more, \`${MAX_COUNTED}+\`. Absent where it is not counted, and on pages by cursor`,
  [INCARNATION_HEADER]: "In answers to agents: the incarnation of the control plane. After a new one, say hello again",
  [DAMAGE_HEADER]: "JSON with the sums of `damage` of the answer that had the link, and with the codes of its reasons",
  [MISSING_HEADER]: "JSON with `missing` of the answer that had the link, without the ids",
} as const;

export type AnswerHeader = keyof typeof described;

/** Every answer may have these. */
const everywhere = ["X-Request-Id", "RateLimit-Policy", "RateLimit"] as const satisfies AnswerHeader[];

/** Every refusal may have these too. */
const ofRefusals = [
  IGNORED_HEADER,
  DEPRECATION_HEADER,
  REPLAYED_HEADER,
  INCARNATION_HEADER,
] as const satisfies AnswerHeader[];

const ofStatus: Readonly<Record<number, readonly AnswerHeader[]>> = {
  302: ["Location"],
  401: ["WWW-Authenticate"],
  409: ["Retry-After"],
  416: ["Content-Range"],
  429: ["Retry-After"],
  503: ["Retry-After"],
};

export function headerComponents(): Json {
  return Object.fromEntries(
    Object.entries(described).map(([name, description]) => [name, { description, schema: text }]),
  );
}

/** Returns the headers of an answer with this status: those of its own, and those that every such answer may have. */
export function headersOf(status: number, own: readonly AnswerHeader[] = []): Json {
  const names = [...everywhere, ...(status >= 400 ? ofRefusals : []), ...(ofStatus[status] ?? []), ...own];
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

interface Sent {
  readonly query?: unknown;
  readonly body?: unknown;
  readonly makes?: Operation["makes"] | undefined;
}

/** Returns the headers that the answer to a call may have for what the call sends. */
export function headersOfCall({ query, body, makes }: Sent): AnswerHeader[] {
  const isRepeatable = makes !== undefined && makes !== "nothing";
  return [...namesIf(query ?? body, IGNORED_HEADER), ...namesIf(isRepeatable, REPLAYED_HEADER)];
}

/** Returns the headers that the success of an operation may have, besides those that its contract declares. */
export function headersOfSuccess(operation: Operation): AnswerHeader[] {
  const isToAgent = operation.access.kind === "agent" || operation.access.kind === "enrolment";
  return [
    ...headersOfCall(operation),
    ...namesIf(mayBeKept(operation), "ETag"),
    ...namesIf(isPaged(operation), "Link", TOTAL_HEADER),
    ...namesIf(mayBeDeprecated(operation), DEPRECATION_HEADER),
    ...namesIf(isToAgent, INCARNATION_HEADER),
  ];
}

function namesIf(condition: unknown, ...names: AnswerHeader[]): AnswerHeader[] {
  return condition ? names : [];
}
