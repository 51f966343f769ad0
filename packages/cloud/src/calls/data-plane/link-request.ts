import type { Context } from "hono";
import type { LinkRequest, LinkSigner } from "../../core/signed-link.ts";
import { proveConnection } from "../connections/connections.ts";
import type { Env } from "../connections/env.ts";
import type { Deps } from "../context/context.ts";

/** The dependencies of the data plane. It needs no database, so that it can run at another site; there, links end with their time only. */
export type DataPlaneDeps = Pick<Deps, "blobs" | "signer" | "clock" | "log"> & Partial<Pick<Deps, "linkMakers">>;

/** Reads what a request may do by its link, using `read`. Throws as `verifyLink` does. */
export function openLink<T>(
  c: Context<Env>,
  { signer, clock }: Pick<DataPlaneDeps, "signer" | "clock">,
  read: (signer: LinkSigner, request: LinkRequest) => T,
): T {
  const { pathname: path, searchParams: query } = new URL(c.req.url);
  const found = read(signer, { method: c.req.method, path, query, nowMs: Number(clock.nowNs() / 1_000_000n) });
  proveConnection(c);
  return found;
}

/** Returns the organization of an object; the key begins with it. */
export function ownerOfBlob(key: string): string {
  return key.slice(0, key.indexOf("/"));
}

/** Returns the callback for a stream that ends before all promised bytes were sent. */
export function logBreak(c: Context<Env>, { log }: Pick<Deps, "log">): (error: unknown) => void {
  return (error) => log.error({ err: error, requestId: c.get("requestId") }, "a download broke off");
}
