import { type api, type Input, MAX_RETRIED, type Output, type WebhookDelivery } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import type { Complete } from "../../core/complete.ts";
import { ApiError, throwNotFound } from "../../core/errors.ts";
import type { WebhookModel } from "../../db/generated/models.ts";
import { newId } from "../../db/ids.ts";
import { type Transaction, withTransaction } from "../../db/transaction.ts";
import { visibleTo } from "../projects/find-project.ts";
import { RETRIES } from "./next-attempt.ts";
import { toDelivery, withEvent } from "./webhook-rows.ts";

type Contract = typeof api.webhooks;

export async function listDeliveries(
  ctx: Ctx,
  { id, state, type, limit, offset }: Input<Contract["listDeliveries"]>,
): Promise<Complete<WebhookDelivery>[]> {
  const webhook = await ctx.db.prisma.webhook.findFirst({ where: { ...visibleTo(ctx), id }, select: { id: true } });
  if (!webhook) throwNotFound(`webhook ${id}`);
  const rows = await ctx.db.prisma.webhookDelivery.findMany({
    where: { webhookId: id, ...(state && { state }), ...(type && { event: { type } }) },
    orderBy: { eventId: "desc" },
    take: limit,
    skip: offset,
    ...withEvent,
  });
  return rows.map(toDelivery);
}

/** A ping is tried once: it is to show whether the receiver answers now. */
export async function ping(ctx: Ctx, { id }: Input<Contract["ping"]>): Promise<Complete<WebhookDelivery>> {
  return withTransaction(ctx.db, async (tx) => {
    const { orgId, projectId } = await holdEnabled(tx, ctx, id);
    const nowNs = ctx.clock.nowNs();
    const event = { id: newId("whev"), orgId, projectId, type: "ping", occurredAtNs: nowNs };
    await tx.outboxEvent.create({ data: { ...event, payload: { webhook: { id } } } });
    const delivery = { webhookId: id, eventId: event.id, dueAtNs: nowNs, retriesLeft: 0 };
    return toDelivery(await tx.webhookDelivery.create({ data: delivery, ...withEvent }));
  });
}

export async function retryDelivery(
  ctx: Ctx,
  { id, deliveryId }: Input<Contract["retryDelivery"]>,
): Promise<Complete<WebhookDelivery>> {
  return withTransaction(ctx.db, async (tx) => {
    await holdEnabled(tx, ctx, id);
    const where = { webhookId: id, eventId: deliveryId };
    const data = { state: "waiting", dueAtNs: ctx.clock.nowNs(), retriesLeft: RETRIES } as const;
    const { count } = await tx.webhookDelivery.updateMany({ where, data });
    if (count === 0) throwNotFound(`delivery ${deliveryId}`);
    return toDelivery(
      await tx.webhookDelivery.findUniqueOrThrow({ where: { webhookId_eventId: where }, ...withEvent }),
    );
  });
}

/** Sends what has failed again, each as if it had never been tried. */
export async function retryFailed(
  ctx: Ctx,
  { id, since = 0n }: Input<Contract["retryFailed"]>,
): Promise<Complete<Output<Contract["retryFailed"]>>> {
  return withTransaction(ctx.db, async (tx) => {
    await holdEnabled(tx, ctx, id);
    const count = await tx.$executeRaw`
      UPDATE "WebhookDelivery" d SET "state" = 'waiting', "dueAtNs" = ${ctx.clock.nowNs()}, "retriesLeft" = ${RETRIES}
      FROM (SELECT f."eventId" FROM "WebhookDelivery" f JOIN "OutboxEvent" e ON e."id" = f."eventId"
        WHERE f."webhookId" = ${id} AND f."state" = 'failed' AND e."occurredAtNs" >= ${since}
        ORDER BY f."eventId" LIMIT ${MAX_RETRIED}) failed
      WHERE d."webhookId" = ${id} AND d."eventId" = failed."eventId" AND d."state" = 'failed'`;
    return { count };
  });
}

/**
 * Until the transaction ends, the webhook cannot be deleted or disabled. A delivery that is requested by hand does not wait for as long as
 * the receiver has asked for.
 */
async function holdEnabled(tx: Transaction, ctx: Ctx, id: string): Promise<WebhookModel> {
  await tx.$queryRaw`SELECT 1 FROM "Webhook" WHERE "id" = ${id} AND "orgId" = ${ctx.caller.orgId} FOR NO KEY UPDATE`;
  const webhook = await tx.webhook.findFirst({ where: { ...visibleTo(ctx), id } });
  if (!webhook) return throwNotFound(`webhook ${id}`);
  if (!webhook.enabled) throw new ApiError("Conflict", `webhook ${id} is disabled; enable it first`);
  await tx.webhook.update({ where: { id }, data: { heldUntilNs: 0n } });
  return webhook;
}
