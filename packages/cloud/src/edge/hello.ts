import { type api, edgeLimits, type Input, type Output } from "@downlink/protocol";
import type { AgentCtx } from "../context.ts";
import type { AgentModel, DeviceModel } from "../db/generated/models.ts";
import { newId } from "../db/ids.ts";
import { readIncarnation } from "../db/incarnation.ts";
import { type Transaction, withTransaction } from "../db/transaction.ts";
import { byOwner, ownerId, readOwner } from "./agent-owner.ts";
import { isCloned, noteReturn } from "./clones.ts";
import { isInventoryKnown } from "./inventory.ts";
import { knowsLaterLease, takeLease } from "./lease.ts";
import { settingsOf } from "./work.ts";

type Hello = typeof api.edge.hello;

/** spec: edge agent §3, hello. A whole fleet may say it at once. */
export async function hello(ctx: AgentCtx, body: Input<Hello>): Promise<Output<Hello>> {
  return ctx.admission.hellos.run(ownerId(ctx.caller), () => greet(ctx, body));
}

async function greet(ctx: AgentCtx, body: Input<Hello>): Promise<Output<Hello>> {
  await noteReturn(ctx, body.instanceId);
  const nowNs = ctx.clock.nowNs();
  return withTransaction(ctx.db, async (tx) => {
    // Not held, or the whole fleet would stand in line for one row: an agent that is told one that ends at this moment hears of the
    // next one with its next call, and what it has listed under this one counts for nothing then.
    const incarnation = await readIncarnation({ prisma: tx });
    const agent = await registerAgent(tx, { ctx, body, nowNs });
    const owner = await readOwner(tx, agent);
    return {
      orgId: ctx.caller.orgId,
      ...("device" in owner
        ? { ...(await projectOf(tx, owner.device)), device: { id: owner.device.id, name: owner.device.name } }
        : { site: { id: owner.site.id, name: owner.site.name } }),
      settings: settingsOf(owner),
      serverTime: nowNs,
      incarnation,
      dataUrl: ctx.publicUrl(),
      lease: Number(agent.leaseNumber),
      longPollSeconds: edgeLimits.longPollSeconds,
      isInventoryKnown: await isInventoryKnown(tx, { agent, inventory: body.inventory, incarnation }),
    };
  });
}

async function projectOf(tx: Transaction, { projectId }: DeviceModel) {
  const { name } = await tx.project.findUniqueOrThrow({ where: { id: projectId }, select: { name: true } });
  return { projectId, projectName: name };
}

interface Greeting {
  readonly ctx: AgentCtx;
  readonly body: Input<Hello>;
  readonly nowNs: bigint;
}

async function registerAgent(tx: Transaction, { ctx, body, nowNs }: Greeting): Promise<AgentModel> {
  const { orgId, projectId, deviceId, siteId } = ctx.caller;
  // Two hellos take turns. No stronger lock: a report that holds the agent's row may be about to add to the device.
  if (deviceId !== null) await tx.$queryRaw`SELECT id FROM "Device" WHERE id = ${deviceId} FOR NO KEY UPDATE`;
  else await tx.$queryRaw`SELECT id FROM "Site" WHERE id = ${siteId} FOR NO KEY UPDATE`;
  const where = byOwner(ctx.caller);
  const current = await tx.agent.findUnique({ where });
  if (current !== null && current.clonedAtNs !== null) throw isCloned();
  const said = {
    instanceId: body.instanceId,
    lease: body.lease === undefined ? undefined : BigInt(body.lease),
    formerInstanceIds: body.formerInstanceIds ?? [],
    nowNs,
  };
  const lease = takeLease(current, said);
  // It was told more than we know: nothing is permitted to it before it has told all that it has.
  const suspension = knowsLaterLease(current, said) ? { listedIncarnation: null } : {};
  const facts = { host: body.host, clockSkewMs: Number((body.clock - nowNs) / 1_000_000n) };
  const seen = {
    machineId: body.machineId,
    agentVersion: body.agentVersion,
    facts,
    lastSeenAtNs: nowNs,
    isOnline: true,
  };
  const update = { ...lease, ...seen, ...suspension };
  const create = { ...update, id: newId("agt"), orgId, projectId, deviceId, siteId };
  return tx.agent.upsert({ where, create, update });
}
