import type { z } from "zod";
import type { Capability } from "./capabilities.ts";

/**
 * Who may call an operation. `apiKey` needs the capability; `agent` is the token of a device or of an edge site; `enrolment` is a
 * device token that belongs to no device yet.
 */
export type Access =
  | { readonly kind: "apiKey"; readonly capability: Capability }
  | { readonly kind: "agent" }
  | { readonly kind: "enrolment" };

export type Method = "get" | "post" | "put" | "patch" | "delete";

/** One call of the service, as plain data: routes, validation, client, documentation and tests are made from it. */
export interface Operation {
  readonly method: Method;
  /** Parameters stand in braces: `/v1/devices/{nameOrId}`. */
  readonly path: string;
  readonly access: Access;
  readonly summary: string;
  readonly description?: string;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodObject;
  /** Absent: success is 204 with an empty body. */
  readonly response?: z.ZodType;
  /** Of headers that an answer may carry, by their lower-case names: texts, all optional. */
  readonly responseHeaders?: z.ZodObject;
}

export type Contract = Readonly<Record<string, Operation>>;

type Decoded<S> = S extends z.ZodType ? z.output<S> : unknown;

/** What a handler receives: path, query and body in one object, decoded. */
export type Input<O extends Operation> = Decoded<O["params"]> & Decoded<O["query"]> & Decoded<O["body"]>;
/** The body of an answer, before it is encoded for the wire. */
export type Output<O extends Operation> = O["response"] extends z.ZodType ? z.output<O["response"]> : undefined;

/** A body beside the headers that the operation declares. */
export interface WithHeaders<O extends Operation> {
  readonly output: Output<O>;
  readonly headers: Decoded<O["responseHeaders"]>;
}

/** What a handler answers. */
export type Answer<O extends Operation> = O["responseHeaders"] extends z.ZodType ? WithHeaders<O> : Output<O>;

type OptionalKeys<S extends z.ZodType> = {
  [K in keyof z.input<S>]-?: undefined extends z.input<S>[K] ? K : never;
}[keyof z.input<S>];
type Callable<S> = S extends z.ZodObject
  ? Omit<z.output<S>, OptionalKeys<S>> & Partial<Pick<z.output<S>, OptionalKeys<S> & keyof z.output<S>>>
  : unknown;
/** What a caller gives: as {@link Input}, but what has a default may be left out. */
export type CallInput<O extends Operation> = Callable<O["params"]> & Callable<O["query"]> & Callable<O["body"]>;

export function operation<const O extends Operation>(definition: O): O {
  return definition;
}

export function apiKey<const C extends Capability>(capability: C): { kind: "apiKey"; capability: C } {
  return { kind: "apiKey", capability };
}

export function agentToken(): { kind: "agent" } {
  return { kind: "agent" };
}

export function enrolmentToken(): { kind: "enrolment" } {
  return { kind: "enrolment" };
}

/** The names of the parameters in an operation's path, in order. */
export function pathParameters(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!);
}
