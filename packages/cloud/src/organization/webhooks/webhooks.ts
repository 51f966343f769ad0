import { randomBytes } from "node:crypto";
import { type api, type Input, MAX_WEBHOOKS, type Output, ROTATION_HOURS, type Webhook } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import type { Checks } from "../../calls/serve/again.ts";
import type { Handlers } from "../../calls/serve/handlers.ts";
import type { Complete } from "../../core/complete.ts";
import { invalid, refuse, throwNotFound } from "../../core/errors.ts";
import { newId } from "../../db/ids.ts";
import { withTransaction } from "../../db/transaction.ts";
import { PublicFetchError, requireKeepableUrl } from "../../process/outgoing/allowed-address.ts";
import { requireProjects, visibleTo } from "../projects/find-project.ts";
import { listDeliveries, ping, retryDelivery, retryFailed } from "./deliveries.ts";
import { secretText } from "./webhook-message.ts";
import { toWebhook } from "./webhook-rows.ts";

type Contract = typeof api.webhooks;

const ROTATION_NS = BigInt(ROTATION_HOURS) * 3_600_000_000_000n;
/** As many bytes as the hash that signs. */
const SECRET_BYTES = 32;

export const webhooks: Handlers<Contract> = {
  list: listWebhooks,
  create: createWebhook,
  get: getWebhook,
  update: updateWebhook,
  delete: deleteWebhook,
  rotateSecret,
  ping,
  listDeliveries,
  retryDelivery,
  retryFailed,
};

/** A name is looked up here, where no transaction waits for it. */
export const webhookChecks: Checks<Contract> = { create: requireKeepable, update: requireKeepable };

async function listWebhooks(ctx: Ctx, { limit, offset }: Input<Contract["list"]>): Promise<Complete<Webhook>[]> {
  const rows = await ctx.db.prisma.webhook.findMany({
    where: visibleTo(ctx),
    orderBy: [{ createdAtNs: "asc" }, { id: "asc" }],
    take: limit,
    skip: offset,
  });
  return rows.map(toWebhook);
}

async function createWebhook(ctx: Ctx, body: Input<Contract["create"]>): Promise<Complete<Output<Contract["create"]>>> {
  const url = readUrl(body.url).href;
  const { orgId } = ctx.caller;
  const projectId = await projectOf(ctx, body.projectId);
  const secret = randomBytes(SECRET_BYTES);
  const row = await withTransaction(ctx.db, async (tx) => {
    await tx.$queryRaw`SELECT "id" FROM "Organization" WHERE "id" = ${orgId} FOR NO KEY UPDATE`; // they are counted one at a time
    if ((await tx.webhook.count({ where: { orgId } })) >= MAX_WEBHOOKS)
      refuse("QuotaReached", `an organization has at most ${MAX_WEBHOOKS} webhooks`);
    const { name, eventTypes, enabled } = body;
    const nowNs = ctx.clock.nowNs();
    const given = { name, url, eventTypes: [...new Set(eventTypes)], enabled };
    const times = { createdAtNs: nowNs, updatedAtNs: nowNs };
    return tx.webhook.create({ data: { id: newId("wh"), orgId, projectId, ...given, secret, ...times } });
  });
  return { ...toWebhook(row), secret: secretText(secret) };
}

async function getWebhook(ctx: Ctx, { id }: Input<Contract["get"]>): Promise<Complete<Webhook>> {
  const row = await ctx.db.prisma.webhook.findFirst({ where: { ...visibleTo(ctx), id } });
  return row ? toWebhook(row) : throwNotFound(`webhook ${id}`);
}

/** A webhook that was enabled, or has another address, starts over: what its receiver did before does not count. */
async function updateWebhook(ctx: Ctx, { id, ...changes }: Input<Contract["update"]>): Promise<Complete<Webhook>> {
  const url = changes.url === undefined ? undefined : readUrl(changes.url).href;
  const begins = changes.enabled === true || url !== undefined;
  const fresh = begins ? { disabledReason: null, failingSinceNs: null, heldUntilNs: 0n } : {};
  const eventTypes = changes.eventTypes && [...new Set(changes.eventTypes)];
  const [row] = await ctx.db.prisma.webhook.updateManyAndReturn({
    where: { ...visibleTo(ctx), id },
    data: { ...changes, url, eventTypes, ...fresh, updatedAtNs: ctx.clock.nowNs() },
  });
  return row ? toWebhook(row) : throwNotFound(`webhook ${id}`);
}

/** The secret before the one that is replaced here signs nothing any more. */
async function rotateSecret(
  ctx: Ctx,
  { id }: Input<Contract["rotateSecret"]>,
): Promise<Complete<Output<Contract["create"]>>> {
  const secret = randomBytes(SECRET_BYTES);
  const nowNs = ctx.clock.nowNs();
  const row = await withTransaction(ctx.db, async (tx) => {
    await tx.$queryRaw`SELECT FROM "Webhook" WHERE "id" = ${id} FOR NO KEY UPDATE`;
    const before = await tx.webhook.findFirst({ where: { ...visibleTo(ctx), id } });
    if (!before) return throwNotFound(`webhook ${id}`);
    const former = { formerSecret: before.secret, formerUntilNs: nowNs + ROTATION_NS };
    return tx.webhook.update({ where: { id }, data: { secret, ...former, updatedAtNs: nowNs } });
  });
  return { ...toWebhook(row), secret: secretText(secret) };
}

async function deleteWebhook(ctx: Ctx, { id }: Input<Contract["delete"]>): Promise<{ id: string }> {
  const { count } = await ctx.db.prisma.webhook.deleteMany({ where: { ...visibleTo(ctx), id } });
  return count === 0 ? throwNotFound(`webhook ${id}`) : { id };
}

/** Returns the address in its parsed form, in which it is requested and shown. */
function readUrl(text: string): URL {
  return URL.parse(text) ?? invalid("url", "must be an address such as https://example.org/hooks");
}

/** Where a name leads is looked at each time something is sent, and here only for plain http. */
async function requireKeepable(
  { webhookNetworks }: Ctx,
  { url }: { readonly url?: string | undefined },
): Promise<void> {
  if (url === undefined) return;
  try {
    await requireKeepableUrl(readUrl(url), webhookNetworks);
  } catch (error) {
    if (!(error instanceof PublicFetchError)) throw error;
    invalid("url", `must be an https address of the public internet: ${error.message}`);
  }
}

async function projectOf(ctx: Ctx, given: string | undefined): Promise<string | null> {
  if (given !== undefined) return (await requireProjects(ctx, [given]))[0]!;
  if (ctx.caller.projectIds.length > 0)
    invalid("projectId", "must name one of the projects to which this API key is limited");
  return null;
}
