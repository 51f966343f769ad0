import { DataDamage, type Recording } from "@downlink/protocol";
import { type Kysely, sql } from "kysely";
import {
  type ByIds,
  type FirstPage,
  type FirstPageOfDevice,
  oldest,
  type Rows,
} from "../../calls/search/first-page.ts";
import { type Complete, toComplete } from "../../core/complete.ts";
import type { DB } from "../../db/generated/tables.ts";
import { anyOf, type Parameters, prepare } from "../../db/prepared.ts";
import { type Tenancy, within } from "../../organization/projects/scope-sql.ts";
import { readLocation } from "../../store/customer-buckets/read-location.ts";
import { explainUnavailable } from "../../store/site-keys/unavailable-data.ts";
import { type CutFacts, toCutOf } from "./cut-rows.ts";

/** Metadata that is stored in this many bytes is at most a hundred times as large in memory. */
const SMALL_BYTES = 2048;
const isSmall = sql<boolean>`pg_column_size(r.metadata) <= ${sql.lit(SMALL_BYTES)}`;

const selectWithoutMetadata = (recordings: Rows<"Recording">) =>
  recordings
    .leftJoin("Device as d", "d.id", "r.deviceId")
    .leftJoin("Session as n", "n.id", "r.sessionId")
    .leftJoin("Site as s", "s.id", "r.siteId")
    .leftJoin("Site as e", "e.id", "r.edgeSiteId")
    .leftJoin("SiteProcess as p", "p.siteId", "r.siteId")
    .leftJoin("SiteBucket as b", "b.siteId", "r.siteId")
    .select(["r.id", "r.projectId", "r.path", "r.sizeBytes", "r.createdAtNs", "r.importedAtNs", "r.startNs", "r.endNs"])
    .select(["r.importStatus", "r.key", "r.messageCount", "r.sessionId", "r.failureCode", "r.failureText"])
    .select([
      "r.damage",
      "r.storedDamage",
      "r.damagedSinceNs",
      "r.location",
      "d.id as deviceId",
      "d.name as deviceName",
      "n.key as sessionKey",
    ])
    .select(["s.id as siteId", "s.name as siteName", "e.id as edgeSiteId", "e.name as edgeSiteName"])
    .select([
      "p.lastSeenAtNs as siteSeenAtNs",
      "b.problem as bucketProblem",
      "b.problemSinceNs as bucketProblemSinceNs",
    ])
    .select(
      sql<CutFacts | null>`CASE WHEN r."isCut" THEN (SELECT json_build_object('wholeId', c."wholeId", 'topics', c.topics,
      'startNs', c."startNs"::text, 'endNs', c."endNs"::text) FROM "Cut" c WHERE c."recordingId" = r.id) END`.as("cut"),
    )
    .select("s.indexingStrategy");

const recordingsWithAll = (db: Kysely<DB>) =>
  selectWithoutMetadata(db.selectFrom("Recording as r")).select("r.metadata");

/** The metadata is null if it is large. */
const recordingsIfSmall = (recordings: Rows<"Recording">) =>
  selectWithoutMetadata(recordings).select(sql<object | null>`CASE WHEN ${isSmall} THEN r.metadata END`.as("metadata"));

/** Selects the recording with an id, and whether parts of it were asked for. */
export const selectRecordingRow = prepare((db, { orgId, projectIds, id }: Parameters<Tenancy & { id: string }>) =>
  recordingsWithAll(db)
    .select(sql<boolean>`r."isEdge" AND EXISTS (SELECT FROM "Cut" p WHERE p."wholeId" = r.id)`.as("hasCuts"))
    .where(within("r", { orgId, projectIds }))
    .where("r.id", "=", id),
);

/** Selects recordings by their ids. */
export const selectRecordingRows = prepare((db, { ids }: Parameters<ByIds>) =>
  recordingsWithAll(db).where("r.id", "=", anyOf(ids)),
);

/** Selects the first page of recordings in the order of `oldest`. */
export const selectOldestRecordings = prepare((db, { orgId, limit }: Parameters<FirstPage>) =>
  recordingsIfSmall(oldest(db, { table: "Recording", orgId, limit })),
);
export const selectOldestOfDevice = prepare((db, { orgId, limit, deviceId }: Parameters<FirstPageOfDevice>) =>
  recordingsIfSmall(oldest(db, { table: "Recording", orgId, limit, deviceId })),
);

/** Selects those of the ids that take little memory. */
export const selectSmallRecordingRows = prepare((db, { ids }: Parameters<ByIds>) =>
  recordingsWithAll(db).where("r.id", "=", anyOf(ids)).where(isSmall),
);

type RecordingRow = Awaited<ReturnType<typeof selectRecordingRows>>[number];

/** Whether the data can be read is judged at the given time. */
export function toRecording(row: RecordingRow, nowNs: bigint): Complete<Recording> {
  return {
    id: row.id,
    projectId: row.projectId,
    path: row.path,
    size: Number(row.sizeBytes),
    createdAt: row.createdAtNs,
    importedAt: row.importedAtNs ?? undefined,
    start: row.startNs,
    end: row.endNs,
    importStatus: row.importStatus,
    location: readLocation(row.location),
    site:
      row.siteId === null
        ? undefined
        : { ...summary(row.siteId, row.siteName), indexingStrategy: row.indexingStrategy! },
    edgeSite: row.edgeSiteId === null ? undefined : summary(row.edgeSiteId, row.edgeSiteName),
    device: row.deviceId === null ? undefined : summary(row.deviceId, row.deviceName),
    key: row.key ?? undefined,
    metadata: row.metadata as Recording["metadata"],
    messageCount: Number(row.messageCount),
    sessionId: row.sessionId ?? undefined,
    sessionKey: row.sessionKey ?? undefined,
    cutOf: toCutOf(row.cut),
    cuts: undefined,
    failure: row.failureCode === null ? undefined : { code: row.failureCode, text: row.failureText ?? "" },
    damage: row.damage === null ? undefined : toComplete(DataDamage.parse(JSON.parse(row.damage))),
    storedDamage:
      row.storedDamage === null
        ? undefined
        : { reason: row.storedDamage, since: row.damagedSinceNs ?? row.createdAtNs },
    unavailable: explainUnavailable(row, nowNs),
  };
}

/** A row that exists has a name. */
function summary(id: string, name: string | null): { id: string; name: string } {
  return { id, name: name! };
}
