// A hello takes two statements and no transaction: one reads everything that decides about it, and the other writes the agent's row if
// nobody has written it since (`xmin`); otherwise the hello is decided anew. A call for work by an agent at rest takes one statement, and
// renews the lease only after a third of its time. With the look-up of the caller that makes 3 and 2 statements; with a transaction and the
// ORM it was 14 and 10.

import type { AgentCtx } from "../context/context.ts";
import type { AgentCaller } from "../core/callers.ts";
import type { AgentModel, DeviceModel, SiteModel } from "../db/generated/models.ts";
import { bigintTypes } from "../db/kysely-pool.ts";
import { type Inventory, inventorySql } from "./inventory.ts";

type Owner =
  | {
      readonly device: Pick<DeviceModel, "id" | "name" | "projectId" | keyof DeviceSettings> & {
        readonly projectName: string;
      };
    }
  | { readonly site: Pick<SiteModel, "id" | "name" | keyof SiteSettings> };
/** The columns that an agent's settings are made of. */
export type DeviceSettings = Pick<
  DeviceModel,
  "enabled" | "retainRecordingsSeconds" | "autoDeleteAfterImport" | "agentSettings"
>;
export type SiteSettings = Pick<SiteModel, "retainRecordingsSeconds" | "agentSettings">;
export type SettingsOwner = { readonly device: DeviceSettings } | { readonly site: SiteSettings };

type StoredAgent = Pick<
  AgentModel,
  | "id"
  | "leaseNumber"
  | "leaseInstanceId"
  | "leaseExpiresAtNs"
  | "reportSequence"
  | "oustedInstanceId"
  | "oustedReturns"
  | "clonedAtNs"
  | "listedIncarnation"
>;

/** What is known about an agent at one moment. */
export interface Standing {
  readonly owner: Owner;
  readonly inventory: Inventory;
  /** The cloud's incarnation. */
  readonly incarnation: string;
  /** The agent's row; undefined before its first hello. */
  readonly agent?: StoredAgent & {
    /** Every change of the row gives it another version: a write that requires this version has overlooked nothing. */
    readonly rowVersion: string;
  };
}

const AGENT = `a.id AS "agentId", a.xmin::text AS "rowVersion", a."leaseNumber", a."leaseInstanceId", a."leaseExpiresAtNs",
  a."reportSequence", a."oustedInstanceId", a."oustedReturns", a."clonedAtNs", a."listedIncarnation"`;
const INVENTORY = `CROSS JOIN LATERAL (${inventorySql("a.id")}) i`;

const STANDING_OF_DEVICE = `
  SELECT o.id, o.name, o."projectId", p.name AS "projectName", o.enabled, o."retainRecordingsSeconds", o."autoDeleteAfterImport",
    o."agentSettings", ${AGENT}, i.count, i.digest, c.incarnation
  FROM "Device" o JOIN "Project" p ON p.id = o."projectId" JOIN "Deployment" c ON c.id = 1
  LEFT JOIN "Agent" a ON a."deviceId" = o.id ${INVENTORY} WHERE o.id = $1`;
const STANDING_OF_SITE = `
  SELECT o.id, o.name, o."retainRecordingsSeconds", o."agentSettings", ${AGENT}, i.count, i.digest, c.incarnation
  FROM "Site" o JOIN "Deployment" c ON c.id = 1
  LEFT JOIN "Agent" a ON a."siteId" = o.id ${INVENTORY} WHERE o.id = $1`;

type Row = Record<"id" | "name" | "projectId" | "projectName" | "incarnation" | "digest" | "rowVersion", string> &
  DeviceSettings & { readonly count: number } & { readonly agentId: string | null } & Omit<StoredAgent, "id">;

/** Reads everything as of one moment, by one statement; undefined if the owner is gone. */
export async function readStanding({ db }: AgentCtx, caller: AgentCaller): Promise<Standing | undefined> {
  const isDevice = caller.deviceId !== null;
  const { rows } = await db.pool.query<Row>({
    name: isDevice ? "standing of a device" : "standing of a site",
    text: isDevice ? STANDING_OF_DEVICE : STANDING_OF_SITE,
    values: [caller.deviceId ?? caller.siteId],
    types: bigintTypes,
  });
  return rows[0] && toStanding(rows[0], isDevice);
}

function toStanding(row: Row, isDevice: boolean): Standing {
  const { agentId, count, digest, incarnation } = row;
  const owner: Owner = isDevice ? { device: row } : { site: row };
  const agent = agentId === null ? {} : { agent: { ...row, id: agentId } };
  return { owner, inventory: { count, digest }, incarnation, ...agent };
}

export type AgentRow = StoredAgent &
  Pick<AgentModel, "machineId" | "agentVersion" | "lastSeenAtNs"> & { readonly facts: object };

const COLUMNS = [
  ...["leaseNumber", "leaseInstanceId", "leaseExpiresAtNs", "reportSequence", "oustedInstanceId", "oustedReturns"],
  ...["clonedAtNs", "listedIncarnation", "machineId", "agentVersion", "lastSeenAtNs", "facts"],
] as const;

const registering = (owner: "deviceId" | "siteId") => `
  INSERT INTO "Agent" (id, "orgId", "projectId", "${owner}", "isOnline", ${COLUMNS.map((name) => `"${name}"`).join(", ")})
  VALUES ($1, $2, $3, $4, true, ${COLUMNS.map((_, at) => `$${at + 6}`).join(", ")})
  ON CONFLICT ("${owner}") DO UPDATE SET "isOnline" = true, ${COLUMNS.map((name) => `"${name}" = excluded."${name}"`).join(", ")}
  WHERE "Agent".xmin = $5::xid`;
const REGISTER_OF_DEVICE = registering("deviceId");
const REGISTER_OF_SITE = registering("siteId");

/** Returns false if the agent's row has changed since its standing was read. */
export async function writeAgent({ db, caller }: AgentCtx, row: AgentRow, before: Standing): Promise<boolean> {
  const isDevice = caller.deviceId !== null;
  const ids = [row.id, caller.orgId, caller.projectId, caller.deviceId ?? caller.siteId];
  const { rowCount } = await db.pool.query({
    name: isDevice ? "write a device's agent" : "write a site's agent",
    text: isDevice ? REGISTER_OF_DEVICE : REGISTER_OF_SITE,
    values: [...ids, before.agent?.rowVersion ?? null, ...COLUMNS.map((name) => toValue(row[name as keyof AgentRow]))],
  });
  return rowCount === 1;
}

function toValue(value: unknown): unknown {
  if (typeof value === "bigint") return value.toString();
  return typeof value === "object" && value !== null ? JSON.stringify(value) : value;
}
