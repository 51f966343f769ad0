// `If-Match` keeps a change from overwriting another one that the caller has not seen: the thing is read as its `get` answers it without a
// query, and if that has another `ETag`, nothing is changed (412). Changes with `If-Match` run one after the other, so that of two with the
// same tag only one is made; a change without it waits for no other. spec: RFC 9110 §13.1.1

import { type Contract, holdsCredential, type Operation, pathParameters } from "@downlink/protocol";
import { ApiError, refuse } from "../../core/errors.ts";
import { joinOneConnection } from "../../db/one-connection.ts";
import { encodeJson } from "../answers/encode-json.ts";
import { isKnown, tagOf } from "../answers/send-json.ts";
import type { Ctx } from "../context/context.ts";
import type { BoundContract } from "./again.ts";
import type { AnyHandler } from "./handlers.ts";

/** Returns the operation's handler, which first compares what `If-Match` names. */
export function matchedHandler<C extends Contract>(
  { contract, handlers }: BoundContract<C>,
  operation: Operation,
  handler: AnyHandler,
): AnyHandler {
  if (!["put", "patch", "delete"].includes(operation.method)) return handler;
  const { get } = contract;
  const schema =
    get?.path === operation.path && get.response && !holdsCredential(get.response) ? get.response : undefined;
  const read = handlers.get as unknown as AnyHandler;
  const defaults = get?.query?.safeParse({}).data;
  return (ctx, input) => {
    const { ifMatch } = ctx;
    if (ifMatch === undefined) return handler(ctx, input);
    if (!schema) return refuseMatch();
    return joinOneConnection(ctx.db, async (db) => {
      const inside: Ctx = { ...ctx, db };
      const thing = pathParameters(operation.path).map((name) => String((input as Record<string, unknown>)[name]));
      const lock = ["match", ctx.caller.orgId, operation.path, ...thing].join(" ");
      await db.tx.$queryRaw`SELECT pg_advisory_xact_lock(hashtextextended(${lock}, 0))::text`;
      const tag = tagOf(encodeJson(schema, await read(inside, { ...defaults, ...(input as object) })));
      if (!isKnown(ifMatch, tag))
        throw new ApiError(
          "PreconditionFailed",
          "it has changed since it had that ETag: read it again, and change that",
        );
      return handler(inside, input);
    });
  };
}

/** A condition that cannot be looked at is never taken as one that holds. */
export function refuseMatch(): never {
  return refuse("PreconditionFailed", "this has no ETag, so that If-Match cannot hold");
}
