import { type Device, type Event, formatTimestamp, type Recording } from "@downlink/protocol";
import type { Int8 } from "./statement.ts";

/** An answer that names each field of the contract, so that a new field does not compile until the reference reads it too. */
type Answer<T> = { readonly [K in keyof T]-?: unknown };

export function time(ns: Int8): string {
  return formatTimestamp(BigInt(ns));
}

export interface DeviceRow {
  readonly id: string;
  readonly name: string;
  readonly projectId: string;
  readonly orgId: string;
  readonly retainRecordingsSeconds: number | null;
  readonly enabled: boolean;
  readonly remoteAccessEnabled: boolean;
  readonly autoDeleteAfterImport: boolean;
  readonly properties: object;
  readonly createdAtNs: Int8;
  readonly updatedAtNs: Int8;
  readonly leaseExpiresAtNs: Int8 | null;
  readonly lastSeenAtNs: Int8;
  readonly agentVersion: string;
  readonly facts: { readonly host: { hostname: string; platform: string; arch: string }; readonly clockSkewMs: number };
  readonly clonedAtNs: Int8 | null;
  readonly status: object | null;
}

export const DEVICE_COLUMNS = `d.id, d.name, d."projectId", d."orgId", d."retainRecordingsSeconds", d.enabled,
  d."remoteAccessEnabled", d."autoDeleteAfterImport", d.properties, d."createdAtNs", d."updatedAtNs",
  a."leaseExpiresAtNs", a."lastSeenAtNs", a."agentVersion", a.facts, a."clonedAtNs", a.status`;
export const DEVICE_TABLES = `"Device" d LEFT JOIN "Agent" a ON a."deviceId" = d.id`;

export function toDevice(row: DeviceRow): Answer<Device> {
  return {
    id: row.id,
    name: row.name,
    projectId: row.projectId,
    orgId: row.orgId,
    retainRecordingsSeconds: row.retainRecordingsSeconds ?? undefined,
    enabled: row.enabled,
    remoteAccessEnabled: row.remoteAccessEnabled,
    autoDeleteAfterImport: row.autoDeleteAfterImport,
    properties: row.properties,
    createdAt: time(row.createdAtNs),
    updatedAt: time(row.updatedAtNs),
    agent: row.leaseExpiresAtNs === null ? undefined : toAgent(row, row.leaseExpiresAtNs),
  };
}

function toAgent(row: DeviceRow, leaseExpiresAtNs: Int8): object {
  return {
    online: BigInt(leaseExpiresAtNs) > BigInt(Date.now()) * 1_000_000n,
    lastSeenAt: time(row.lastSeenAtNs),
    version: row.agentVersion,
    hostname: row.facts.host.hostname,
    platform: row.facts.host.platform,
    arch: row.facts.host.arch,
    clockSkewMs: row.facts.clockSkewMs,
    cloned: row.clonedAtNs !== null,
    status: row.status ?? undefined,
  };
}

export interface EventRow {
  readonly id: string;
  readonly projectId: string;
  readonly startNs: Int8;
  readonly endNs: Int8;
  readonly deviceId: string;
  readonly deviceName: string;
  readonly metadata: object;
  readonly createdAtNs: Int8;
  readonly updatedAtNs: Int8;
  readonly eventTypeId: string | null;
  readonly properties: object;
  readonly createdBy: { readonly kind: string; readonly id: string; readonly name: string } | null;
}

export const EVENT_COLUMNS = `e.id, e."projectId", e."startNs", e."endNs", e."deviceId", d.name AS "deviceName", e.metadata,
  e."createdAtNs", e."updatedAtNs", e."eventTypeId", e.properties, e."createdBy"`;
export const EVENT_TABLES = `"Event" e JOIN "Device" d ON d.id = e."deviceId"`;

export function toEvent(row: EventRow): Answer<Event> {
  return {
    id: row.id,
    projectId: row.projectId,
    start: time(row.startNs),
    end: time(row.endNs),
    deviceId: row.deviceId,
    device: { id: row.deviceId, name: row.deviceName },
    metadata: row.metadata,
    createdBy: row.createdBy ? { kind: row.createdBy.kind, id: row.createdBy.id, name: row.createdBy.name } : undefined,
    createdAt: time(row.createdAtNs),
    updatedAt: time(row.updatedAtNs),
    eventTypeId: row.eventTypeId ?? undefined,
    properties: row.properties,
  };
}

export interface RecordingRow {
  readonly id: string;
  readonly projectId: string;
  readonly path: string;
  readonly sizeBytes: Int8;
  readonly createdAtNs: Int8;
  readonly importedAtNs: Int8 | null;
  readonly startNs: Int8;
  readonly endNs: Int8;
  readonly importStatus: string;
  readonly siteId: string | null;
  readonly siteName: string;
  readonly edgeSiteId: string | null;
  readonly edgeSiteName: string;
  readonly deviceId: string | null;
  readonly deviceName: string;
  readonly key: string | null;
  readonly metadata: object;
  readonly messageCount: Int8;
  readonly sessionId: string | null;
  readonly sessionKey: string | null;
  readonly failureCode: string | null;
  readonly failureText: string | null;
  readonly damage: string | null;
}

export const RECORDING_COLUMNS = `r.id, r."projectId", r.path, r."sizeBytes", r."createdAtNs", r."importedAtNs", r."startNs",
  r."endNs", r."importStatus", r."siteId", s.name AS "siteName", r."edgeSiteId", e.name AS "edgeSiteName", r."deviceId",
  d.name AS "deviceName", r.key, r.metadata, r."messageCount", r."sessionId", n.key AS "sessionKey", r."failureCode",
  r."failureText", r.damage`;
export const RECORDING_TABLES = `"Recording" r LEFT JOIN "Device" d ON d.id = r."deviceId" LEFT JOIN "Site" s ON s.id = r."siteId"
  LEFT JOIN "Site" e ON e.id = r."edgeSiteId" LEFT JOIN "Session" n ON n.id = r."sessionId"`;

/** No recording that is measured has one of these fields. */
type Absent = "cutOf" | "cuts" | "location" | "storedDamage" | "unavailable";

export function toRecording(row: RecordingRow): Answer<Omit<Recording, Absent>> {
  return {
    id: row.id,
    projectId: row.projectId,
    path: row.path,
    size: Number(row.sizeBytes),
    createdAt: time(row.createdAtNs),
    importedAt: row.importedAtNs === null ? undefined : time(row.importedAtNs),
    start: time(row.startNs),
    end: time(row.endNs),
    importStatus: row.importStatus,
    site: row.siteId === null ? undefined : { id: row.siteId, name: row.siteName, indexingStrategy: "whole-files" },
    edgeSite: row.edgeSiteId === null ? undefined : { id: row.edgeSiteId, name: row.edgeSiteName },
    device: row.deviceId === null ? undefined : { id: row.deviceId, name: row.deviceName },
    key: row.key ?? undefined,
    metadata: row.metadata,
    messageCount: Number(row.messageCount),
    sessionId: row.sessionId ?? undefined,
    sessionKey: row.sessionKey ?? undefined,
    failure: row.failureCode === null ? undefined : { code: row.failureCode, text: row.failureText ?? "" },
    damage: row.damage === null ? undefined : JSON.parse(row.damage),
  };
}
