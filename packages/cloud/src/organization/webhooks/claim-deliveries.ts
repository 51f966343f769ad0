import type { Database } from "../../db/client.ts";
import type { DueDelivery, Receiver } from "./webhook-message.ts";

/** A process that dies while it sends has its deliveries sent by another one after this time, which is longer than any attempt. */
const CLAIM_NS = 30_000_000_000n;

/** A process that dies in its turn leaves the webhook to others after this time, which is longer than a turn with its last attempts. */
const LONGEST_TURN_NS = 30_000_000_000n;

export interface DueWebhook {
  readonly id: string;
  /** Whether the last attempt failed. */
  readonly isFailing: boolean;
}

interface Look {
  readonly nowNs: bigint;
  /** The webhooks to leave out. */
  readonly busy: readonly string[];
  readonly most: number;
}

/** Returns webhooks for which something is due: first those that do not fail, and those that had no turn for longest before others. */
export async function findDue({ prisma }: Pick<Database, "prisma">, look: Look): Promise<DueWebhook[]> {
  const { nowNs, busy, most } = look;
  return prisma.$queryRaw<DueWebhook[]>`
    SELECT w."id", w."failingSinceNs" IS NOT NULL AS "isFailing" FROM "Webhook" w
    WHERE w."enabled" AND w."heldUntilNs" <= ${nowNs} AND w."servedUntilNs" <= ${nowNs}
      AND w."id" <> ALL (${[...busy]}::text[])
      AND EXISTS (SELECT FROM "WebhookDelivery" d
        WHERE d."webhookId" = w."id" AND d."state" = 'waiting' AND d."dueAtNs" <= ${nowNs})
    ORDER BY "isFailing", w."attemptedAtNs" LIMIT ${most}`;
}

/** The time in which one process alone sends to a webhook. */
export interface Turn {
  readonly webhookId: string;
  readonly servedUntilNs: bigint;
}

/** Resolves with undefined if another process has its turn, or if the webhook was deleted. */
export async function takeTurn(
  { prisma }: Pick<Database, "prisma">,
  { webhookId, nowNs }: { readonly webhookId: string; readonly nowNs: bigint },
): Promise<Turn | undefined> {
  const servedUntilNs = nowNs + LONGEST_TURN_NS;
  const where = { id: webhookId, servedUntilNs: { lte: nowNs } };
  const { count } = await prisma.webhook.updateMany({ where, data: { servedUntilNs } });
  return count === 1 ? { webhookId, servedUntilNs } : undefined;
}

/** A turn that has already passed to another process is left to it. */
export async function endTurn({ prisma }: Pick<Database, "prisma">, { webhookId, servedUntilNs }: Turn): Promise<void> {
  await prisma.webhook.updateMany({ where: { id: webhookId, servedUntilNs }, data: { servedUntilNs: 0n } });
}

export interface Claimed extends DueDelivery, Pick<Receiver, "url" | "secret"> {
  readonly formerSecret: Uint8Array | null;
  readonly retriesLeft: number;
}

interface Claim {
  readonly webhookId: string;
  readonly nowNs: bigint;
  readonly most: number;
}

/** Takes deliveries that are due, for this process alone, with the address and the secret that the webhook has now. */
export async function claimDeliveries(
  { prisma }: Pick<Database, "prisma">,
  { webhookId, nowNs, most }: Claim,
): Promise<Claimed[]> {
  return prisma.$queryRaw<Claimed[]>`
    UPDATE "WebhookDelivery" d SET "dueAtNs" = ${nowNs + CLAIM_NS}
    FROM "Webhook" w, "OutboxEvent" e, (
      SELECT "eventId" FROM "WebhookDelivery"
      WHERE "webhookId" = ${webhookId} AND "state" = 'waiting' AND "dueAtNs" <= ${nowNs}
      ORDER BY "dueAtNs" LIMIT ${most} FOR UPDATE SKIP LOCKED) due
    WHERE d."webhookId" = ${webhookId} AND d."eventId" = due."eventId" AND e."id" = d."eventId"
      AND w."id" = ${webhookId} AND w."enabled" AND w."heldUntilNs" <= ${nowNs}
    RETURNING d."eventId", d."retriesLeft", e."type", e."projectId", e."payload", e."occurredAtNs", w."url", w."secret",
      CASE WHEN w."formerUntilNs" > ${nowNs} THEN w."formerSecret" END AS "formerSecret"`;
}
