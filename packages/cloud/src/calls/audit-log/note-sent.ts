import type { AuditedKind } from "@downlink/protocol";
import { callerId } from "../../core/callers.ts";
import { DOWNLOAD_LIFE_MS } from "../../core/signed-link.ts";
import type { Ctx } from "../context/context.ts";
import { findActor } from "./find-actor.ts";
import { writeEntry } from "./write-entry.ts";

/** An entry has so many items of a list, and their number if there are more. */
const MOST_ITEMS = 20;

export interface Sent {
  readonly operation: string;
  readonly resourceKind: AuditedKind;
  readonly resourceId: string;
  /** The names of the data, as JSON shows them. */
  readonly what: Readonly<Record<string, unknown>>;
}

/** Writes to the audit log that a caller got a link to data. It is one entry, however often and in however many ranges the link is read. */
export async function noteSent(ctx: Ctx, { what, ...about }: Sent): Promise<void> {
  const { prisma } = ctx.db;
  const after = Object.fromEntries(Object.entries(what).flatMap(shorten));
  const change = { ...about, orgId: ctx.caller.orgId, nowNs: ctx.clock.nowNs(), after };
  await writeEntry(prisma, await findActor(prisma, ctx), change);
}

/** Does the same, unless the caller got such a link within the life of one: a player asks again for each range. */
export async function noteDownload(ctx: Ctx, sent: Sent): Promise<void> {
  const { operation, resourceId } = sent;
  const { orgId } = ctx.caller;
  const atNs = { gt: ctx.clock.nowNs() - BigInt(DOWNLOAD_LIFE_MS) * 1_000_000n };
  const where = { orgId, atNs, operation, resourceId, actorId: callerId(ctx.caller) };
  if ((await ctx.db.prisma.auditEntry.count({ where, take: 1 })) === 0) await noteSent(ctx, sent);
}

function shorten([name, value]: [string, unknown]): [string, unknown][] {
  if (!Array.isArray(value) || value.length <= MOST_ITEMS) return [[name, value]];
  return [
    [name, value.slice(0, MOST_ITEMS)],
    [`${name}Count`, value.length],
  ];
}
