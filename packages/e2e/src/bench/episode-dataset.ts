import type { Size, Table } from "./seed-sql.ts";

/** This recording is in every eightieth episode, like a long recording that is cut into many snippets. */
export const BUSY_RECORDING_NUMBER = 1;
const BUSY_EVERY = 80;
const MEMBERS = 3;
/** The number is coprime to the counts, so that episodes are not created in the order of their times. */
const SCATTER = 7919;

interface Span {
  readonly startNs: bigint;
  readonly endNs: bigint;
}

/** Each episode has three recordings around its time; those of the oldest tenth and some others are missing. */
export function episodeTables(size: Size, year: Span): Table[] {
  return [
    { table: "Episode", sql: episodes(size, year) },
    { table: "EpisodeRecording", sql: members(size) },
    { table: "EpisodeAvailability", sql: availability() },
  ];
}

function episodes({ orgId, projectId, episodes: count }: Size, { startNs, endNs }: Span): string {
  return `INSERT INTO "Episode" (id, "orgId", "projectId", "startNs", "endNs", metadata, "identitySha256", "createdAtNs")
    SELECT 'ep_' || lpad(i::text, 26, '0'), '${orgId}', '${projectId}', start,
      start + 1000000000 + i % 20 * 1000000000 + CASE WHEN i % 1000 = 0 THEN 3600000000000 ELSE 0 END,
      jsonb_build_object('task', 'task-' || i % 20, 'run', 'run-' || i, 'success', i % 3 = 0, 'score', i % 1000,
        'note', 'robot picked near gate ' || i % 300),
      md5(i::text) || md5((-i)::text), ${endNs} + i / 500 * 1000000000
    FROM (
      SELECT i, ${startNs} + (i * ${SCATTER} % ${count}) * ${(endNs - startNs) / BigInt(count)} AS start
      FROM generate_series(1::bigint, ${count}) i) AS made`;
}

function members({ episodes: count, recordings }: Size): string {
  const place = `(i * ${SCATTER} % ${count}) * ${recordings} / ${count}`;
  return `INSERT INTO "EpisodeRecording" ("episodeId", "recordingId", path, "startNs", "endNs", "deviceId")
    SELECT 'ep_' || lpad(i::text, 26, '0'), r.id, r.path, r."startNs", r."endNs", r."deviceId"
    FROM (
      SELECT i, 1 + (${place} + k) % ${recordings} AS number
      FROM generate_series(1::bigint, ${count}) i, generate_series(0, ${MEMBERS - 1}) k UNION
      SELECT i, ${BUSY_RECORDING_NUMBER} FROM generate_series(${BUSY_EVERY}::bigint, ${count}, ${BUSY_EVERY}) i) AS member
    JOIN "Recording" r ON r.id = 'rec_' || lpad(number::text, 26, '0')`;
}

function availability(): string {
  return `INSERT INTO "EpisodeAvailability" ("episodeId", "projectId", "missingCount", "hasMissing", "createdAtNs", "startNs", "endNs")
    SELECT e.id, e."projectId", m.missing, m.missing > 0, e."createdAtNs", e."startNs", e."endNs"
    FROM "Episode" e JOIN (
      SELECT m."episodeId", count(*) FILTER (WHERE r."importStatus" <> 'complete') AS missing
      FROM "EpisodeRecording" m JOIN "Recording" r ON r.id = m."recordingId" GROUP BY 1) AS m ON m."episodeId" = e.id`;
}
