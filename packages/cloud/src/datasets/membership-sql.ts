// Dataset versions are no copies: a member's row says in which version it was added and in which removed. What is
// staged carries the editable version's number already, so that a commit writes no member; whatever changes a
// dataset locks its row first.

import { Prisma } from "../db/generated/client.ts";

type Sql = Prisma.Sql;

/** `removedIn` of a member that was not removed. */
export const NEVER = 2 ** 31 - 1;

/** Whether the row `m` of DatasetMember is in a version. */
export function inVersion(versionNumber: number): Sql {
  return Prisma.sql`(m."addedIn" <= ${versionNumber} AND m."removedIn" > ${versionNumber})`;
}

/** The rows `m` of a version, by the index of [addedIn, removedIn]: it reads these and no other. */
export function membersOf(datasetId: string, versionNumber: number): Sql {
  return Prisma.sql`m."datasetId" = ${datasetId} AND ${addedFrom(datasetId, { after: 0, to: versionNumber })}
    AND m."removedIn" > ${versionNumber}`;
}

/** Whether the row `m` is of an episode that a version has and another has not. */
export function onlyInVersion({ versionNumber, other }: Difference): Sql {
  const { after, until } = lifeOf({ versionNumber, other });
  return Prisma.sql`m."addedIn" > ${after} AND ${inVersion(versionNumber)} AND m."removedIn" <= ${until} AND NOT ${isBackIn(other)}`;
}

/** As {@link onlyInVersion}, by the index of [addedIn, removedIn]: it reads what changed between the two. */
export function membersOnlyIn(datasetId: string, { versionNumber, other }: Difference): Sql {
  const { after, until } = lifeOf({ versionNumber, other });
  return Prisma.sql`m."datasetId" = ${datasetId} AND ${addedFrom(datasetId, { after, to: versionNumber })}
    AND m."removedIn" > ${versionNumber} AND m."removedIn" <= ${until} AND NOT ${isBackIn(other)}`;
}

interface Difference {
  readonly versionNumber: number;
  readonly other: number;
}

/** A row of a version is of none before `addedIn`, and of none from `removedIn` on. */
function lifeOf({ versionNumber, other }: Difference): { after: number; until: number } {
  return versionNumber > other ? { after: other, until: NEVER } : { after: 0, until: other };
}

/** Whether a version has the episode of the row `m` by another row: it was removed, and added again. */
function isBackIn(versionNumber: number): Sql {
  return Prisma.sql`EXISTS (
    SELECT FROM "DatasetMember" b WHERE b."episodeId" = m."episodeId" AND b."datasetId" = m."datasetId"
      AND b."addedIn" <= ${versionNumber} AND b."removedIn" > ${versionNumber})`;
}

interface Versions {
  readonly after: number;
  /** Inclusive. */
  readonly to: number;
}

/** The rows `m` added in these versions: as a list, which the index takes as so many equalities, each with `removedIn` beside it. */
export function addedFrom(datasetId: string, { after, to }: Versions): Sql {
  return Prisma.sql`m."addedIn" = ANY(ARRAY(
    SELECT v."versionNumber" FROM "DatasetVersion" v
    WHERE v."datasetId" = ${datasetId} AND v."versionNumber" > ${after} AND v."versionNumber" <= ${to}
      AND v."addedEpisodeCount" > 0))`;
}
