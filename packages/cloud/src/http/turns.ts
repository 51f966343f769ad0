import type { Operation } from "@downlink/protocol";
import type { MiddlewareHandler } from "hono";
import { LINK_SIGNATURE } from "../blobs/signed-link.ts";
import type { Ctx } from "../context.ts";
import type { Env } from "./env.ts";
import { FairTurns, type TurnLimits } from "./fair-turns.ts";
import { goneSignal } from "./gone-signal.ts";
import type { TakeTurn } from "./in-steps.ts";

/** What of one process is shared out, and between whom. */
export interface Turns {
  /** Every call, between tokens: one that calls 200 times at once waits for itself. Taken before the database is asked who it is. */
  readonly calls: FairTurns;
  /** The same for agents, whose calls wait for each other anyway: each holds the lease. A poll that waits has let go of its turn. */
  readonly agents: FairTurns;
  /** What reads many rows, between organizations; the same below. */
  readonly lists: FairTurns;
  /** What is sent by one link. Taken before it is looked at what the link selects, which may be much. */
  readonly links: FairTurns;
  readonly exports: FairTurns;
  /** Of those, the next piece: it computes, and what nobody reads needs none. */
  readonly exportSteps: FairTurns;
  /** Files and parts of files, while they are received. */
  readonly uploads: FairTurns;
}

export const turnLimits: Readonly<Record<keyof Turns, TurnLimits>> = {
  calls: { atOnce: Number.POSITIVE_INFINITY, perOwner: 8, alone: 64, waiting: 500, waitMs: 30_000 },
  agents: { atOnce: Number.POSITIVE_INFINITY, perOwner: 2, waiting: 500, waitMs: 30_000 },
  lists: { atOnce: 16, perOwner: 8, perToken: 6, alone: 12, waiting: 500, waitMs: 30_000 },
  links: { atOnce: Number.POSITIVE_INFINITY, perOwner: 4, waiting: 16, waitMs: 30_000 },
  exports: { atOnce: 24, perOwner: 8, waiting: 64, waitMs: 30_000 },
  exportSteps: { atOnce: 2, perOwner: 1, alone: 2, waiting: Number.POSITIVE_INFINITY, waitMs: 300_000 },
  uploads: { atOnce: 512, perOwner: 256, waiting: 1000, waitMs: 30_000 },
};

export function createTurns(limits: Readonly<Record<keyof Turns, TurnLimits>>): Turns {
  return {
    calls: new FairTurns("calls of one token", limits.calls),
    agents: new FairTurns("calls of one agent", limits.agents),
    lists: new FairTurns("large reads", limits.lists),
    links: new FairTurns("downloads by this link", limits.links),
    exports: new FairTurns("exports", limits.exports),
    exportSteps: new FairTurns("steps of exports", limits.exportSteps),
    uploads: new FairTurns("uploads", limits.uploads),
  };
}

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
    const signature = c.req.query(LINK_SIGNATURE) ?? "";
    using _turn = await links.take({ owner: signature.slice(0, -1) }, () => goneSignal(c));
    await next();
  };
}

/** For lists and what else the contract calls expensive; nothing to wait for otherwise. A list that is sent in batches takes one for each. */
export function listTurns(ctx: Ctx, operation: Operation): TakeTurn {
  if (!isLargeRead(operation)) return async () => undefined;
  const taker = { owner: ctx.caller.orgId, token: callerToken(ctx.caller) };
  return ({ hasBegun }) => ctx.turns.lists.take({ ...taker, hasBegun }, () => ctx.signal);
}

function isLargeRead({ isExpensive, query, response }: Operation): boolean {
  return isExpensive === true || (query !== undefined && "limit" in query.shape) || response?.def.type === "array";
}

export function callerToken(caller: Ctx["caller"] | { readonly tokenId: string }): string {
  return "keyId" in caller ? caller.keyId : caller.tokenId;
}
