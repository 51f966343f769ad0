import type { z } from "zod";
import type { Day } from "../shapes/deprecate.ts";
import type { AuditedKind } from "./audited.ts";
import type { Capability } from "./capabilities.ts";
import type { JsonLimits } from "./json-guard.ts";

/**
 * Says whose an operation's resources are, which decides what a caller may do who is limited to some projects.
 * `projects`: each belongs to a project; the caller reads and changes its own, and all others are 404.
 * `shared`: they belong to the organization, its projects need them and the operation only reads them; the caller may read them too.
 * `organization`: they belong to the organization, and are changed or shown for all of it; the caller is refused.
 */
export type Reach = "projects" | "shared" | "organization";

/**
 * Says who may call an operation. `apiKey` is an API key or a signed-in member with the capability, and a key for all projects if the reach
 * is the organization; `person` is any API key and any signed-in member; `agent` is the token of a device or of an edge site; `enrolment`
 * is a device token that belongs to no device yet; `inbox` is an inbox notification token; `site` is the token of a self-hosted site;
 * `upload` is the capability for one upload at such a site, which only the site checks.
 */
export type Access =
  | { readonly kind: "apiKey"; readonly capability: Capability; readonly reach: Reach }
  | { readonly kind: "person" }
  | { readonly kind: "agent" }
  | { readonly kind: "enrolment" }
  | { readonly kind: "inbox" }
  | { readonly kind: "site" }
  | { readonly kind: "upload" };

/**
 * The size of a JSON body. Many small values take far longer to parse than their bytes suggest, and the service answers no other client
 * meanwhile, so only bodies with data in bulk may be large.
 */
export const bodyLimits = {
  ordinary: { bytes: 1024 * 1024, values: 10_000 },
  // Ordinary JSON parsers of other languages stop at some 500 to 1000 levels, and a list has the bodies of others in it.
  large: { bytes: 4 * 1024 * 1024, containers: 250_000, values: 500_000, depth: 200 },
} as const satisfies Record<string, JsonLimits>;

/** The most parameters of a query. More are answered 400. */
export const MAX_QUERY_PARAMETERS = 1000;

export type Method = "get" | "post" | "put" | "patch" | "delete";

/** A POST that makes something takes an `Idempotency-Key`: a repeat with the same one makes nothing more. */
export interface Making {
  /**
   * The answer to such a repeat. `answer`: the answer of the first call. `link`: the same with its link signed again. `secret`: 409
   * `SecretAlreadyShown`, because what is shown once is not stored.
   */
  readonly repeat: "answer" | "link" | "secret";
  /** The field of the answer that names what was made, if that is one thing. */
  readonly idField?: string;
}

/** The header by which a caller marks a call that may be a repeat. It is in lower case, as in HTTP/2 and in all code. */
export const IDEMPOTENCY_HEADER = "idempotency-key";
export const MAX_IDEMPOTENCY_KEY_CHARACTERS = 255;
/** The header of an answer to such a repeat. */
export const REPLAYED_HEADER = "idempotent-replayed";
/** The header that names the fields of a request that nothing reads. spec: wire contract §1 */
export const IGNORED_HEADER = "x-downlink-ignored";
/** How many hours a repeat is recognized. */
export const IDEMPOTENCY_HOURS = 24;

/** One call of the service, as plain data: routes, validation, client, documentation and tests are made from it. */
export interface Operation {
  readonly method: Method;
  /** Other methods that mean the same, because clients use them. */
  readonly alsoMethods?: readonly Method[];
  /** Parameters stand in braces: `/v1/devices/{nameOrId}`. */
  readonly path: string;
  readonly access: Access;
  readonly summary: string;
  readonly description?: string;
  /** Since this day other operations do the same better; the summary names them. */
  readonly deprecatedSince?: Day;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodObject;
  /** How large the body may be. Absent for `ordinary`. */
  readonly bodySize?: keyof typeof bodyLimits;
  /** The field of the body whose JSON text comes back as it was sent, because parsing changes numbers and the order of keys. */
  readonly textField?: string;
  /** True for an operation that reads or writes much, though it is no list with a `limit`. It takes turns with those. */
  readonly isExpensive?: true;
  /** Absent if success is 204 with an empty body. */
  readonly response?: z.ZodType;
  /** With `Accept: text/event-stream`, such answers come as server-sent events. */
  readonly streamsEvents?: true;
  /** Describes the thing that a POST by API key makes; `nothing` if a repeat changes no more than the first call did. */
  readonly makes?: Making | "nothing";
  /** The kind of thing that the operation changes, deletes or sends out: each success writes an entry of the audit log. */
  readonly audits?: AuditedKind;
  /** The handler writes the entry: the call is not one transaction, or may change nothing. */
  readonly auditsItself?: true;
  /** The reason why an operation of people or programs that changes something writes no entry. */
  readonly unaudited?: string;
  /** The headers that an answer may carry, by their lower-case names. They are texts, and all are optional. */
  readonly responseHeaders?: z.ZodObject;
}

export type Contract = Readonly<Record<string, Operation>>;

type Decoded<S> = S extends z.ZodType ? z.output<S> : unknown;

/** The input of a handler: path, query and body in one object, decoded. */
export type Input<O extends Operation> = Decoded<O["params"]> & Decoded<O["query"]> & Decoded<O["body"]>;
/** The body of an answer, before it is encoded for the wire. */
export type Output<O extends Operation> = O["response"] extends z.ZodType ? z.output<O["response"]> : undefined;

/** A body beside the headers that the operation declares. */
export interface WithHeaders<O extends Operation> {
  readonly output: Output<O>;
  readonly headers: Decoded<O["responseHeaders"]>;
}

/** The answer that a handler returns. */
export type Answer<O extends Operation> = O["responseHeaders"] extends z.ZodType ? WithHeaders<O> : Output<O>;

type OptionalKeys<S extends z.ZodType> = {
  [K in keyof z.input<S>]-?: undefined extends z.input<S>[K] ? K : never;
}[keyof z.input<S>];
type Callable<S> = S extends z.ZodObject
  ? Omit<z.output<S>, OptionalKeys<S>> & Partial<Pick<z.output<S>, OptionalKeys<S> & keyof z.output<S>>>
  : unknown;
/** The input that a caller gives: the {@link Input}, in which fields with a default may be left out. */
export type CallInput<O extends Operation> = Callable<O["params"]> & Callable<O["query"]> & Callable<O["body"]>;

export function operation<const O extends Operation>(definition: O): O {
  return definition;
}

export function apiKey<const C extends Capability, const R extends Reach>(
  capability: C,
  reach: R,
): { kind: "apiKey"; capability: C; reach: R } {
  return { kind: "apiKey", capability, reach };
}

export function anyPerson(): { kind: "person" } {
  return { kind: "person" };
}

export function agentToken(): { kind: "agent" } {
  return { kind: "agent" };
}

export function enrolmentToken(): { kind: "enrolment" } {
  return { kind: "enrolment" };
}

export function inboxToken(): { kind: "inbox" } {
  return { kind: "inbox" };
}

export function siteToken(): { kind: "site" } {
  return { kind: "site" };
}

export function uploadCapability(): { kind: "upload" } {
  return { kind: "upload" };
}

/** The names of the parameters in an operation's path, in order. */
export function pathParameters(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!);
}
