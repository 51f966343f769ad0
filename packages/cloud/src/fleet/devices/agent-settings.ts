import { AgentSettings, type api, type Input } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import type { Shown } from "../../calls/serve/again.ts";
import type { Handlers } from "../../calls/serve/handlers.ts";
import { type Complete, toComplete } from "../../core/complete.ts";
import { refuse } from "../../core/errors.ts";
import { withTransaction } from "../../db/transaction.ts";
import { findSite } from "../../organization/projects/find-site.ts";
import { findDevice, lockDevice } from "./find-device.ts";

type Contract = typeof api.agentSettings;

/** These settings are pushed to the agent of a device or of an edge site with its work. */
export const agentSettings: Handlers<Contract> = {
  get: getAgentSettings,
  put: putAgentSettings,
  getOfSite: getSiteSettings,
  putOfSite: putSiteSettings,
};

export const shownSettings: Shown = { schema: AgentSettings, read: getWithOwner };

/** Returns the settings with the id of the device or site that they are for. */
async function getWithOwner(ctx: Ctx, input: Input<Contract["get"]> | Input<Contract["getOfSite"]>) {
  const owner = "nameOrId" in input ? await findDevice(ctx, input) : await findSite(ctx, input.id);
  return { id: owner.id, ...AgentSettings.parse(owner.agentSettings) };
}

async function getAgentSettings(ctx: Ctx, ref: Input<Contract["get"]>): Promise<Complete<AgentSettings>> {
  return toComplete(AgentSettings.parse((await findDevice(ctx, ref)).agentSettings));
}

async function putAgentSettings(
  ctx: Ctx,
  { nameOrId, projectId, ...settings }: Input<Contract["put"]>,
): Promise<Complete<AgentSettings>> {
  const { id } = await findDevice(ctx, { nameOrId, projectId });
  await withTransaction(ctx.db, async (tx) => {
    await lockDevice(tx, id);
    await tx.device.update({ where: { id }, data: { agentSettings: settings, updatedAtNs: ctx.clock.nowNs() } });
  });
  return toComplete(settings);
}

async function getSiteSettings(ctx: Ctx, { id }: Input<Contract["getOfSite"]>): Promise<Complete<AgentSettings>> {
  return toComplete(AgentSettings.parse((await findSite(ctx, id)).agentSettings));
}

async function putSiteSettings(
  ctx: Ctx,
  { id, ...settings }: Input<Contract["putOfSite"]>,
): Promise<Complete<AgentSettings>> {
  const site = await findSite(ctx, id);
  if (site.type !== "edge") refuse("Conflict", `site "${site.name}" is ${site.type}; only an edge site has an agent`);
  await ctx.db.prisma.site.updateMany({ where: { id }, data: { agentSettings: settings } });
  return toComplete(settings);
}
