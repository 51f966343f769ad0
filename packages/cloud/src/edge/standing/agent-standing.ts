// A hello takes two statements and no transaction: one reads everything that decides about it, and the other writes the agent's row if it
// was not written since (`xmin`); otherwise the hello is decided once more. With the look-up of the caller that makes 3, and 2 for the
// process that holds the lease; with a transaction and the ORM it was 14.

import { sql } from "kysely";
import type { AgentCtx } from "../../calls/context/context.ts";
import type { AgentModel, DeviceModel, SiteModel } from "../../db/generated/models.ts";
import { type Parameters, prepare } from "../../db/prepared.ts";
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

/** The facts that are known about an agent at one moment. */
export interface Standing {
  readonly owner: Owner;
  readonly inventory: Inventory;
  /** The cloud's incarnation. */
  readonly incarnation: string;
  /** The agent's row was written, because the process that says hello holds the lease. */
  readonly isKept: boolean;
  /** The agent's row; undefined before its first hello. */
  readonly agent?: StoredAgent & {
    /** Every change of the row gives it another version: a write that requires this version has overlooked nothing. */
    readonly rowVersion: string;
  };
}

const AGENT =
  sql.raw(`a.id AS "agentId", a.xmin::text AS "rowVersion", a."leaseNumber", a."leaseInstanceId", a."leaseExpiresAtNs",
  a."reportSequence", a."oustedInstanceId", a."oustedReturns", a."clonedAtNs", a."listedIncarnation"`);
const INVENTORY = sql.raw(`CROSS JOIN LATERAL (${inventorySql("a.id")}) i`);

const buildDeviceQuery = ({ ownerId }: Parameters<Values>) => sql`
  SELECT o.id, o.name, o."projectId", p.name AS "projectName", o.enabled, o."retainRecordingsSeconds", o."autoDeleteAfterImport",
    o."agentSettings", ${AGENT}, i.count, i.digest, c.incarnation, EXISTS (SELECT FROM kept) AS "isKept"
  FROM "Device" o JOIN "Project" p ON p.id = o."projectId" JOIN "Deployment" c ON c.id = 1
  LEFT JOIN "Agent" a ON a."deviceId" = o.id ${INVENTORY} WHERE o.id = ${ownerId}`;
const buildSiteQuery = ({ ownerId }: Parameters<Values>) => sql`
  SELECT o.id, o.name, o."retainRecordingsSeconds", o."agentSettings", ${AGENT}, i.count, i.digest, c.incarnation,
    EXISTS (SELECT FROM kept) AS "isKept"
  FROM "Site" o JOIN "Deployment" c ON c.id = 1
  LEFT JOIN "Agent" a ON a."siteId" = o.id ${INVENTORY} WHERE o.id = ${ownerId}`;

/** The values of a hello. */
interface Values extends Omit<Said, "lease" | "facts"> {
  /** The device or the site that the agent is of. */
  readonly ownerId: string;
  readonly lease: number | null;
  /** JSON. */
  readonly facts: string;
}

/**
 * For the process that holds the lease of the owner's agent, if it presents no later lease: `takeLease` and `hello.ts` then decide that the
 * lease is renewed. If the agent has no files, what it has listed may change, and that is decided there. A row that another transaction has
 * changed since it was read is not written.
 */
const buildRenewal = (owner: "deviceId" | "siteId", at: Parameters<Values>) => sql`
  WITH seen AS MATERIALIZED (SELECT id, xmin AS version FROM "Agent" WHERE ${sql.ref(owner)} = ${at.ownerId}), kept AS (
    UPDATE "Agent" a SET "isOnline" = true, "leaseExpiresAtNs" = ${at.leaseExpiresAtNs}, "lastSeenAtNs" = ${at.lastSeenAtNs},
      "machineId" = ${at.machineId}, "agentVersion" = ${at.agentVersion}, facts = ${at.facts}
    FROM seen s WHERE a.id = s.id AND a.xmin = s.version AND a."leaseInstanceId" = ${at.instanceId} AND a."clonedAtNs" IS NULL
      AND coalesce(${at.lease}::bigint <= a."leaseNumber", true)
      AND (${at.hasFiles}::boolean OR EXISTS (SELECT FROM "EdgeFile" f WHERE f."agentId" = a.id))
    RETURNING a.id
  )`;
const keepOfDevice = prepare(
  (_db, at: Parameters<Values>) => sql<Row>`${buildRenewal("deviceId", at)} ${buildDeviceQuery(at)}`,
);
const keepOfSite = prepare(
  (_db, at: Parameters<Values>) => sql<Row>`${buildRenewal("siteId", at)} ${buildSiteQuery(at)}`,
);

type Row = Record<"id" | "name" | "projectId" | "projectName" | "incarnation" | "digest" | "rowVersion", string> &
  DeviceSettings & { readonly count: number; readonly isKept: boolean } & { readonly agentId: string | null } & Omit<
    StoredAgent,
    "id"
  >;

/** The facts about an agent that its hello brings. */
export interface Said
  extends Pick<AgentRow, "leaseExpiresAtNs" | "lastSeenAtNs" | "machineId" | "agentVersion" | "facts"> {
  readonly instanceId: string;
  readonly lease: number | undefined;
  readonly hasFiles: boolean;
}

/**
 * Reads everything as of one moment, by one statement; undefined if the owner is gone. If the hello comes from the process that holds the
 * lease, the agent's row is written too, and `isKept` is true.
 */
export async function keepStanding({ db, caller }: AgentCtx, said: Said): Promise<Standing | undefined> {
  const isDevice = caller.deviceId !== null;
  const [row] = await (isDevice ? keepOfDevice : keepOfSite)(db, {
    ...said,
    ownerId: caller.deviceId ?? caller.siteId!,
    lease: said.lease ?? null,
    facts: JSON.stringify(said.facts),
  });
  return row && toStanding(row, isDevice);
}

function toStanding(row: Row, isDevice: boolean): Standing {
  const { agentId, count, digest, incarnation, isKept } = row;
  const owner: Owner = isDevice ? { device: row } : { site: row };
  const agent = agentId === null ? {} : { agent: { ...row, id: agentId } };
  return { owner, inventory: { count, digest }, incarnation, isKept, ...agent };
}

export type AgentRow = StoredAgent &
  Pick<AgentModel, "machineId" | "agentVersion" | "lastSeenAtNs"> & { readonly facts: object };

const COLUMNS = [
  "leaseNumber",
  "leaseInstanceId",
  "leaseExpiresAtNs",
  "reportSequence",
  "oustedInstanceId",
  "oustedReturns",
  "clonedAtNs",
  "listedIncarnation",
  "machineId",
  "agentVersion",
  "lastSeenAtNs",
  "facts",
] as const;

interface Registration extends AgentRow {
  readonly orgId: string;
  readonly projectId: string | null;
  readonly ownerId: string;
  readonly rowVersion: string | null;
}

const registerOf = (owner: "deviceId" | "siteId") =>
  prepare(
    (_db, at: Parameters<Registration>) => sql<{ id: string }>`
      INSERT INTO "Agent" (id, "orgId", "projectId", ${sql.ref(owner)}, "isOnline", ${sql.join(COLUMNS.map((name) => sql.ref(name)))})
      VALUES (${at.id}, ${at.orgId}, ${at.projectId}, ${at.ownerId}, true, ${sql.join(COLUMNS.map((name) => at[name]))})
      ON CONFLICT (${sql.ref(owner)}) DO UPDATE
        SET "isOnline" = true, ${sql.join(COLUMNS.map((name) => sql`${sql.ref(name)} = excluded.${sql.ref(name)}`))}
        WHERE "Agent".xmin = ${at.rowVersion}::xid
      RETURNING id`,
  );
const registerOfDevice = registerOf("deviceId");
const registerOfSite = registerOf("siteId");

/** Returns false if the agent's row has changed since its standing was read. */
export async function writeAgent({ db, caller }: AgentCtx, row: AgentRow, before: Standing): Promise<boolean> {
  const { orgId, projectId, deviceId, siteId } = caller;
  const rowVersion = before.agent?.rowVersion ?? null;
  const register = deviceId === null ? registerOfSite : registerOfDevice;
  const written = await register(db, { ...row, orgId, projectId, ownerId: deviceId ?? siteId!, rowVersion });
  return written.length === 1;
}
