// A large read is what answers an array or has a `limit`, and what the contract marks as `isExpensive`; of a list
// that is sent in batches each takes a turn, so that one that nobody reads holds none (`http/large-reads.test.ts`
// walks the contract).

import type { Operation } from "@downlink/protocol";
import type { Context, MiddlewareHandler } from "hono";
import { LINK_SIGNATURE } from "../blobs/signed-link.ts";
import type { Ctx } from "../context/context.ts";
import type { FairTurns } from "../limits/fair-turns.ts";
import type { Turns } from "../limits/turns.ts";
import type { Env } from "./env.ts";
import { goneSignal } from "./gone-signal.ts";
import type { TakeTurn } from "./in-steps.ts";

/** A token is known by its text alone here. */
export function callInTurn(turnsOf: (path: string) => FairTurns): MiddlewareHandler<Env> {
  return async (c, next) => {
    const taker = { owner: c.req.header("authorization") ?? "" };
    using _turn = await turnsOf(c.req.path).take(taker, () => goneSignal(c));
    await next();
  };
}

/** A link is known by its signature, in whose last character two bits say nothing. */
export function linkInTurn({ links }: Turns): MiddlewareHandler<Env> {
  return async (c, next) => {
    if (c.req.method !== "GET") return next();
    using _turn = await links.take({ owner: linkOf(c) }, () => goneSignal(c));
    await next();
  };
}

export function linkOf(c: Context<Env>): string {
  return (c.req.query(LINK_SIGNATURE) ?? "").slice(0, -1);
}

/** For lists and what else the contract calls expensive; nothing to wait for otherwise. A list that is sent in batches takes one for each. */
export function listTurns(c: Context<Env>, ctx: Ctx, operation: Operation): TakeTurn {
  if (!isLargeRead(operation)) return async () => undefined;
  let gone: AbortSignal | undefined;
  const taker = { owner: ctx.caller.orgId, token: callerToken(ctx.caller) };
  return ({ hasBegun }) =>
    ctx.turns.lists.take({ ...taker, hasBegun }, () => {
      gone ??= goneSignal(c); // not that of the context, which the stop of the process aborts: who waits is served until then
      return gone;
    });
}

function isLargeRead({ isExpensive, query, response }: Operation): boolean {
  return isExpensive === true || (query !== undefined && "limit" in query.shape) || response?.def.type === "array";
}

export function callerToken(caller: Ctx["caller"] | { readonly tokenId: string }): string {
  return "keyId" in caller ? caller.keyId : caller.tokenId;
}
