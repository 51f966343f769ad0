import type { Access, Answer, Contract, Input, Operation, WithHeaders } from "@downlink/protocol";
import type { Context, Hono } from "hono";
import { z } from "zod";
import type { Ctx, CtxOf, Deps } from "../context.ts";
import type { Batches } from "../db/in-batches.ts";
import { authenticate } from "./authenticate.ts";
import type { Env } from "./env.ts";
import { parseInput } from "./parse.ts";
import { isBatches, streamList } from "./stream-list.ts";

/** One function an operation; a missing one does not compile. */
export type Handlers<C extends Contract> = {
  readonly [K in keyof C]: (ctx: CtxOf<C[K]>, input: Input<C[K]>) => Promise<Answered<Answer<C[K]>>>;
};

/** A list may come in batches: where its items can be large, a page of them does not fit into memory. */
type Answered<A> = A extends readonly (infer Item)[] ? A | Batches<Item> : A;

type AnyHandler = (ctx: Ctx, input: unknown) => Promise<unknown>;

/** Binds a resource's operations to its verbs: access, parse, call, encode. Anything else is middleware or a plain route. */
export function serve<C extends Contract>(
  app: Hono<Env>,
  deps: Deps,
  bound: { contract: C; handlers: Handlers<C> },
): void {
  for (const [name, operation] of Object.entries(bound.contract)) {
    const handler = bound.handlers[name] as unknown as AnyHandler;
    app.on(operation.method.toUpperCase(), honoPath(operation.path), (c) => answer(c, deps, { operation, handler }));
  }
}

async function answer(
  c: Context<Env>,
  deps: Deps,
  call: { operation: Operation; handler: AnyHandler },
): Promise<Response> {
  const ctx = await openContext(c, deps, call.operation.access);
  const answered = await call.handler(ctx, await parseInput(c, call.operation));
  const { response } = call.operation;
  if (!response) return c.body(null, 204);
  if (isBatches(answered)) return streamList(c, answered, { response, log: deps.log });
  const { output, headers } = (
    call.operation.responseHeaders ? answered : { output: answered, headers: {} }
  ) as WithHeaders<Operation>;
  for (const [name, value] of Object.entries(headers as object)) if (value !== undefined) c.header(name, String(value));
  return c.json(z.encode(response, output));
}

/** What a verb works with, once the caller is known and allowed; for plain routes too. */
export async function openContext(c: Context<Env>, deps: Deps, access: Access): Promise<Ctx> {
  const caller = await authenticate(deps, c.req.raw.headers, access);
  const signal = AbortSignal.any([c.req.raw.signal, deps.stopping]);
  return { ...deps, caller, requestId: c.get("requestId"), signal } as Ctx;
}

function honoPath(path: string): string {
  return path.replace(/\{(\w+)\}/g, ":$1");
}
