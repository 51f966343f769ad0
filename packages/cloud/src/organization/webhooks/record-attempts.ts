import { writeEvent } from "../../background/outbox/outbox.ts";
import { service, writeEntry } from "../../calls/audit-log/write-entry.ts";
import type { Database } from "../../db/client.ts";
import type { WebhookModel } from "../../db/generated/models.ts";
import { toJson } from "../../db/insert-rows.ts";
import { type Transaction, withTransaction } from "../../db/transaction.ts";
import type { Claimed } from "./claim-deliveries.ts";
import { heldUntilNs, nextAttemptNs } from "./next-attempt.ts";

/** The outcome of one attempt. */
export interface Attempt {
  readonly delivery: Pick<Claimed, "eventId" | "retriesLeft" | "url">;
  /** Undefined: nothing answered. */
  readonly statusCode: number | undefined;
  readonly retryAfter?: string | undefined;
  /** The beginning of the answer. */
  readonly answer?: string | undefined;
  readonly tookMs?: number;
  /** Undefined: the receiver took it. */
  readonly error: string | undefined;
}

interface Attempts {
  readonly webhookId: string;
  readonly attempts: readonly Attempt[];
  readonly nowNs: bigint;
}

const LONGEST_FAILURE_DAYS = 5;
const LONGEST_FAILURE_NS = BigInt(LONGEST_FAILURE_DAYS) * 86_400n * 1_000_000_000n;
const GONE = 410;

/** Records attempts for one webhook. Returns why it is disabled from now on; undefined: it is not. */
export async function recordAttempts(db: Pick<Database, "prisma" | "tx">, all: Attempts): Promise<string | undefined> {
  return withTransaction(db, async (tx) => {
    const [webhook] = await tx.$queryRaw<WebhookModel[]>`
      SELECT * FROM "Webhook" WHERE "id" = ${all.webhookId} FOR NO KEY UPDATE`;
    if (!webhook) return undefined; // it was deleted meanwhile
    // An attempt at an address that was replaced meanwhile says nothing of the webhook.
    const attempts = all.attempts.filter(({ delivery }) => delivery.url === webhook.url);
    const after = attempts.length > 0 ? webhookAfter(webhook, { ...all, attempts }) : stateOf(webhook);
    await tx.webhook.update({ where: { id: webhook.id }, data: after });
    await updateDeliveries(tx, { ...all, heldUntilNs: after.heldUntilNs });
    if (!webhook.enabled || after.enabled) return undefined;
    await noteDisabled(tx, webhook, after);
    return after.disabledReason!;
  });
}

/** The row is disabled by now, so that the other webhooks get the event and this one does not. */
async function noteDisabled(
  tx: Transaction,
  { id, orgId, projectId, name }: WebhookModel,
  after: State,
): Promise<void> {
  const { disabledReason, attemptedAtNs: nowNs } = after;
  const about = { orgId, nowNs, operation: "webhooks.disable", resourceKind: "webhook", resourceId: id } as const;
  await writeEntry(tx, service, { ...about, before: { enabled: true }, after: { enabled: false, disabledReason } });
  const payload = { webhook: { id, name, disabledReason } };
  await writeEvent(tx, { type: "webhook.disabled", orgId, projectId, occurredAtNs: nowNs, payload });
}

type State = Pick<WebhookModel, "enabled" | "disabledReason" | "failingSinceNs" | "heldUntilNs" | "attemptedAtNs">;

function stateOf({ enabled, disabledReason, failingSinceNs, heldUntilNs, attemptedAtNs }: WebhookModel): State {
  return { enabled, disabledReason, failingSinceNs, heldUntilNs, attemptedAtNs };
}

function webhookAfter(webhook: WebhookModel, { attempts, nowNs }: Attempts): State {
  const isTaken = attempts.some(({ error }) => error === undefined);
  const failingSinceNs = isTaken ? null : (webhook.failingSinceNs ?? nowNs);
  const held = attempts.map(({ error, retryAfter }) => (error === undefined ? 0n : heldUntilNs(retryAfter, nowNs)));
  const disabledReason = reasonToDisable(attempts, { failingSinceNs, nowNs });
  return {
    enabled: webhook.enabled && disabledReason === undefined,
    disabledReason: disabledReason ?? webhook.disabledReason,
    failingSinceNs,
    heldUntilNs: latest([webhook.heldUntilNs, ...held]),
    attemptedAtNs: nowNs,
  };
}

function latest(timesNs: readonly bigint[]): bigint {
  return timesNs.toSorted((one, other) => Number(other - one))[0]!;
}

function reasonToDisable(
  attempts: readonly Attempt[],
  { failingSinceNs, nowNs }: { readonly failingSinceNs: bigint | null; readonly nowNs: bigint },
): string | undefined {
  if (attempts.some(({ statusCode }) => statusCode === GONE)) return "the receiver answered 410 Gone";
  if (failingSinceNs === null || nowNs - failingSinceNs < LONGEST_FAILURE_NS) return undefined;
  return `every attempt failed for ${LONGEST_FAILURE_DAYS} days; the last one: ${attempts.at(-1)!.error}`;
}

/** A delivery that is sent by hand meanwhile stays waiting only if this attempt failed. */
async function updateDeliveries(tx: Transaction, { webhookId, attempts, nowNs, heldUntilNs: held }: Attempts & Held) {
  const rows = attempts.map(({ delivery: { eventId, retriesLeft }, statusCode, error, answer, tookMs }) => {
    const nextNs =
      error === undefined || statusCode === GONE
        ? undefined
        : nextAttemptNs({ retriesLeft, nowNs, heldUntilNs: held, random: Math.random() });
    const ended = error === undefined ? "delivered" : "failed";
    const state = nextNs === undefined ? ended : "waiting";
    const left = { dueAtNs: nextNs ?? nowNs, retriesLeft: Math.max(0, retriesLeft - 1) };
    return { eventId, state, ...left, statusCode, error, answer, tookMs };
  });
  await tx.$executeRaw`
    UPDATE "WebhookDelivery" d SET "state" = r."state", "dueAtNs" = r."dueAtNs", "retriesLeft" = r."retriesLeft",
      "attempts" = d."attempts" + 1, "attemptedAtNs" = ${nowNs}, "statusCode" = r."statusCode", "error" = r."error",
      "answer" = r."answer", "tookMs" = r."tookMs"
    FROM json_populate_recordset(NULL::"WebhookDelivery", ${toJson(rows)}::json) r
    WHERE d."webhookId" = ${webhookId} AND d."eventId" = r."eventId" AND d."state" = 'waiting'`;
}

interface Held {
  readonly heldUntilNs: bigint;
}

/** Deliveries that were claimed and not sent are due again at once, for another process. */
export async function releaseClaims(
  { prisma }: Pick<Database, "prisma">,
  { webhookId, eventIds, nowNs }: { readonly webhookId: string; readonly eventIds: string[]; readonly nowNs: bigint },
): Promise<void> {
  await prisma.webhookDelivery.updateMany({
    where: { webhookId, eventId: { in: eventIds }, state: "waiting" },
    data: { dueAtNs: nowNs },
  });
}
