import type { api, Input, Output } from "@downlink/protocol";
import type { AgentCtx } from "../context.ts";
import { newId } from "../db/ids.ts";
import { type Transaction, withTransaction } from "../db/transaction.ts";
import { inventoryOf } from "./inventory.ts";
import { takeLease } from "./lease.ts";
import { settingsOf } from "./work.ts";

type Hello = typeof api.edge.hello;

/** spec: edge agent §3, hello */
export async function hello(ctx: AgentCtx, body: Input<Hello>): Promise<Output<Hello>> {
  const nowNs = ctx.clock.nowNs();
  return withTransaction(ctx.db, async (tx) => {
    const agent = await registerAgent(tx, { ctx, body, nowNs });
    const device = await tx.device.findUniqueOrThrow({ where: { id: ctx.caller.deviceId } });
    const known = await inventoryOf(tx, agent.id);
    return {
      orgId: ctx.caller.orgId,
      projectId: device.projectId,
      device: { id: device.id, name: device.name },
      settings: settingsOf(device),
      serverTime: nowNs,
      incarnation: ctx.incarnation,
      lease: Number(agent.leaseNumber),
      isInventoryKnown: known.count === body.inventory.count && known.digest === body.inventory.digest,
    };
  });
}

async function registerAgent(
  tx: Transaction,
  { ctx, body, nowNs }: { ctx: AgentCtx; body: Input<Hello>; nowNs: bigint },
) {
  const { orgId, projectId, deviceId } = ctx.caller;
  // Two hellos take turns. No stronger lock: a report that holds the agent's row may be about to add to the device.
  await tx.$queryRaw`SELECT id FROM "Device" WHERE id = ${deviceId} FOR NO KEY UPDATE`;
  const current = await tx.agent.findUnique({ where: { deviceId } });
  const lease = takeLease(current, {
    instanceId: body.instanceId,
    lease: body.lease === undefined ? undefined : BigInt(body.lease),
    nowNs,
  });
  const facts = { host: body.host, clockSkewMs: Number((body.clock - nowNs) / 1_000_000n) };
  const said = { ...lease, machineId: body.machineId, agentVersion: body.agentVersion, facts, lastSeenAtNs: nowNs };
  return tx.agent.upsert({
    where: { deviceId },
    create: { ...said, id: newId("agt"), orgId, projectId, deviceId },
    update: said,
  });
}
