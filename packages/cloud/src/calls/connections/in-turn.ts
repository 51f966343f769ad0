// A large read is a call whose answer is an array, or that has a `limit`, or that the contract marks as `isExpensive`. If a list is sent in
// batches, each batch takes a turn, so that a list holds none while its client does not read it (`calls/answers/large-reads.test.ts` walks the
// contract).

import type { Operation } from "@downlink/protocol";
import type { Context, MiddlewareHandler } from "hono";
import { callerId } from "../../core/callers.ts";
import { LINK_SIGNATURE } from "../../core/signed-link.ts";
import type { FairTurns } from "../../process/limits/fair-turns.ts";
import type { Turns } from "../../process/limits/turns.ts";
import type { Ctx } from "../context/context.ts";
import type { Env } from "./env.ts";
import { newGoneSignal } from "./new-gone-signal.ts";
import type { TakeTurn } from "./yield-in-steps.ts";

/** Takes the turn of a caller, whose name is known before its token is looked up. Calls without turns do not wait. */
export function callInTurn(
  turnsOf: (path: string) => FairTurns | undefined,
  nameOf: (c: Context<Env>) => string,
): MiddlewareHandler<Env> {
  return async (c, next) => {
    using _turn = await turnsOf(c.req.path)?.take({ owner: nameOf(c) }, () => newGoneSignal(c));
    await next();
  };
}

/** A link is known by its signature, in whose last character two bits have no meaning. */
export function linkInTurn({ links }: Turns): MiddlewareHandler<Env> {
  return async (c, next) => {
    if (c.req.method !== "GET") return next();
    using _turn = await links.take({ owner: linkOf(c) }, () => newGoneSignal(c));
    await next();
  };
}

export function linkOf(c: Context<Env>): string {
  return (c.req.query(LINK_SIGNATURE) ?? "").slice(0, -1);
}

/**
 * Lists and other calls that the contract marks as expensive wait for a turn; all others need none. A list that is sent in batches takes a
 * turn for each batch.
 */
export function listTurns(c: Context<Env>, ctx: Ctx, operation: Operation): TakeTurn {
  if (!isLargeRead(operation)) return async () => undefined;
  let gone: AbortSignal | undefined;
  const taker = { owner: ctx.caller.orgId, token: callerToken(ctx.caller) };
  return ({ hasBegun }) =>
    ctx.turns.lists.take({ ...taker, hasBegun }, () => {
      gone ??= newGoneSignal(c); // not the signal of the context, which is aborted when the process stops: waiting callers are served until then
      return gone;
    });
}

function isLargeRead({ isExpensive, query, response }: Operation): boolean {
  return isExpensive === true || (query !== undefined && "limit" in query.shape) || response?.def.type === "array";
}

export function callerToken(caller: Ctx["caller"] | { readonly tokenId: string }): string {
  return "tokenId" in caller ? caller.tokenId : callerId(caller);
}
