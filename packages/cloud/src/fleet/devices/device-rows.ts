import type { Device, PropertyInterval, PropertyValue, PropertyValues } from "@downlink/protocol";
import { type Kysely, sql } from "kysely";
import { type ByIds, type FirstPage, oldest, type Rows } from "../../calls/search/first-page.ts";
import type { Complete } from "../../core/complete.ts";
import type { DeviceModel, DevicePropertyIntervalModel } from "../../db/generated/models.ts";
import type { DB } from "../../db/generated/tables.ts";
import { anyOf, type Parameters, prepare } from "../../db/prepared.ts";
import { type Tenancy, within } from "../../organization/projects/scope-sql.ts";
import { toEdgeAgent } from "../agents/agent-rows.ts";

const withAgents = (devices: Rows<"Device">) =>
  devices
    .leftJoin("Agent as a", "a.deviceId", "r.id")
    .select(["r.id", "r.name", "r.projectId", "r.orgId", "r.retainRecordingsSeconds", "r.enabled", "r.properties"])
    .select(["r.remoteAccessEnabled", "r.autoDeleteAfterImport", "r.createdAtNs", "r.updatedAtNs"])
    .select(["a.leaseExpiresAtNs", "a.lastSeenAtNs", "a.agentVersion", "a.facts", "a.clonedAtNs", "a.status"]);

const devicesWithAgents = (db: Kysely<DB>) => withAgents(db.selectFrom("Device as r"));

/** Selects devices by name or id. */
export const selectDeviceRows = prepare(
  (db, { orgId, projectIds, nameOrId }: Parameters<Tenancy & { nameOrId: string }>) =>
    devicesWithAgents(db)
      .where(within("r", { orgId, projectIds }))
      .where((given) => given.or([given("r.name", "=", nameOrId), given("r.id", "=", nameOrId)]))
      .limit(sql.lit(3)),
);

/** Selects devices by their ids. */
export const selectDevices = prepare((db, { ids }: Parameters<ByIds>) =>
  devicesWithAgents(db).where("r.id", "=", anyOf(ids)),
);

/** Selects the first page of devices in the order of `oldest`. */
export const selectOldestDevices = prepare((db, { orgId, limit }: Parameters<FirstPage>) =>
  withAgents(oldest(db, { table: "Device", orgId, limit })),
);

type DeviceWithAgent = Awaited<ReturnType<typeof selectDevices>>[number];

/** Answers a device with what its agent last reported about itself, if it ever had an agent. */
export function toDeviceWithAgent(row: DeviceWithAgent, nowNs: bigint): Complete<Device> {
  const { leaseExpiresAtNs, lastSeenAtNs, agentVersion, facts, clonedAtNs, status } = row;
  if (leaseExpiresAtNs === null || lastSeenAtNs === null || agentVersion === null) return toDevice(row);
  const agent = { leaseExpiresAtNs, lastSeenAtNs, agentVersion, facts, clonedAtNs, status };
  return { ...toDevice(row), agent: toEdgeAgent(agent, nowNs) };
}

type ShownDevice = Omit<DeviceModel, "agentSettings" | "properties"> & { readonly properties: unknown };

/** Answers a device without what its agent reports; see device-agents.ts */
export function toDevice(row: ShownDevice): Complete<Device> {
  return {
    id: row.id,
    name: row.name,
    projectId: row.projectId,
    orgId: row.orgId,
    retainRecordingsSeconds: row.retainRecordingsSeconds ?? undefined,
    enabled: row.enabled,
    remoteAccessEnabled: row.remoteAccessEnabled,
    autoDeleteAfterImport: row.autoDeleteAfterImport,
    properties: row.properties as PropertyValues,
    createdAt: row.createdAtNs,
    updatedAt: row.updatedAtNs,
    agent: undefined,
  };
}

export function toPropertyInterval(row: DevicePropertyIntervalModel): Complete<PropertyInterval> {
  return {
    id: row.id,
    deviceId: row.deviceId,
    key: row.key,
    value: row.value as PropertyValue,
    start: row.startNs,
    end: row.endNs ?? undefined,
  };
}
