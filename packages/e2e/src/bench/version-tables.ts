import { dataset } from "./dataset.ts";
import type { Size, Table } from "./seed-sql.ts";

export const VERSIONS = 200;
const NEVER = 2 ** 31 - 1;

/** A dataset of all episodes; one version is committed each minute, after the last episode. */
interface History {
  readonly datasetId: string;
  /** SQL for the version that adds the episode of number `i` in the order of creation, and `s` in that of starts; from 0. */
  readonly addedIn: string;
  /** SQL for the version that removes it. */
  readonly removedIn: string;
}

/** The rows are made of the episodes and recordings of the benchmark alone, with nothing that no dataset needs. */
export function versionTables(size: Size): Table[] {
  const needed = new Set(["Recording", "Episode", "EpisodeRecording", "EpisodeAvailability"]);
  return [
    ...dataset(size).filter(({ table }) => needed.has(table)),
    ...histories(size).flatMap((history) => [
      { table: "DatasetMember", sql: members(size, history) },
      { table: "DatasetVersion", sql: versions(history) },
      { table: "Dataset", sql: datasetOf(size, history) },
    ]),
  ];
}

/** It has ten episodes in its first version, and grows evenly; of a hundred episodes one is removed some versions later. */
export const GROWN = "ds_grown";
/** Nearly all episodes are in it from the first version on; the 100th version is without the earliest 60 %, the 200th has 1 % alone. */
export const PURGED = "ds_purged";

function histories({ episodes }: Size): History[] {
  const share = `(i - 10) * ${VERSIONS - 1} / ${episodes}`;
  return [
    {
      datasetId: GROWN,
      addedIn: `CASE WHEN i < 10 THEN 1 ELSE 2 + ${share} END`,
      removedIn: `CASE WHEN i % 100 = 7 AND ${share} < ${VERSIONS - 20} THEN 10 + ${share} ELSE ${NEVER} END`,
    },
    {
      datasetId: PURGED,
      addedIn: `CASE WHEN i % 1000 = 0 THEN 1 + i / 1000 % 99 ELSE 1 END`,
      removedIn: `CASE WHEN s < ${episodes} * 0.6 THEN 100 WHEN i % 100 = 1 THEN ${NEVER} ELSE 200 END`,
    },
  ];
}

function members({ projectId }: Size, { datasetId, addedIn, removedIn }: History): string {
  return `INSERT INTO "DatasetMember" ("datasetId", "episodeId", "addedIn", "removedIn", "addedAtNs", "createdAtNs", "startNs", "endNs")
    SELECT '${datasetId}', id, "addedIn", "removedIn", last + "addedIn" * 60000000000 + i, "createdAtNs", "startNs", "endNs"
    FROM (
      SELECT *, ${addedIn} AS "addedIn", ${removedIn} AS "removedIn", max("createdAtNs") OVER () AS last
      FROM (
        SELECT *, row_number() OVER (ORDER BY id) - 1 AS i, row_number() OVER (ORDER BY "startNs") - 1 AS s
        FROM "Episode" WHERE "projectId" = '${projectId}') AS numbered) AS placed
    ORDER BY "addedIn", i`;
}

function versions({ datasetId }: History): string {
  const count = (column: string) => `
    SELECT "${column}", count(*) FROM "DatasetMember" WHERE "datasetId" = '${datasetId}' GROUP BY 1`;
  return `INSERT INTO "DatasetVersion" ("datasetId", "versionNumber", "committedAtNs", "createdAtNs", "episodeCount",
      "addedEpisodeCount", "removedEpisodeCount")
    SELECT '${datasetId}', n, CASE WHEN n <= ${VERSIONS} THEN n END, n - 1,
      sum(coalesce(added, 0) - coalesce(removed, 0)) OVER (ORDER BY n), coalesce(added, 0), coalesce(removed, 0)
    FROM generate_series(1, ${VERSIONS + 1}) n LEFT JOIN (${count("addedIn")}) AS a(n, added) USING (n)
    LEFT JOIN (${count("removedIn")}) AS r(n, removed) USING (n)`;
}

function datasetOf({ orgId, projectId }: Size, { datasetId }: History): string {
  return `INSERT INTO "Dataset" (id, "orgId", "projectId", name, "createdAtNs", "updatedAtNs", "editableVersion", "episodeCount")
    SELECT '${datasetId}', '${orgId}', '${projectId}', '${datasetId}', 1, 1, ${VERSIONS + 1}, "episodeCount"
    FROM "DatasetVersion" WHERE "datasetId" = '${datasetId}' AND "versionNumber" = ${VERSIONS}`;
}
