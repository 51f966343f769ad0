// A link ends with what it was made by: an API key that is deleted, disabled or expired, or a session that ends, as it does when its member
// is removed. A transfer that has begun ends within two seconds. A self-hosted site has no database, so there a link lives until its time, and
// so does one that an operator made at the command line.

import type { Context } from "hono";
import { verifyLink } from "../../core/signed-link.ts";
import type { Env } from "../connections/env.ts";
import { type DataPlaneDeps, openLink } from "./link-request.ts";

/** An open link. The transfer by it is watched until this is disposed of, which is when the transfer has ended. */
export interface MadeLink extends Disposable {
  readonly claims: Readonly<Record<string, string>>;
  /** Aborted when the link ends before its time. */
  readonly gone: AbortController;
}

/** Opens the link of a request, if whatever it was made by still exists. Throws as {@link verifyLink} does. */
export async function openMadeLink(c: Context<Env>, deps: Omit<DataPlaneDeps, "blobs">): Promise<MadeLink> {
  const claims = openLink(c, deps, verifyLink);
  const gone = new AbortController();
  const { linkMakers } = deps;
  const { by } = claims;
  if (!linkMakers || by === undefined) return { claims, gone, [Symbol.dispose]: () => undefined };
  await linkMakers.require(by);
  const held = linkMakers.hold(by, gone);
  return { claims, gone, [Symbol.dispose]: () => held[Symbol.dispose]() };
}
