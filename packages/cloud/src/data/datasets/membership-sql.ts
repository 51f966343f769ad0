// Dataset versions are not copied: a member's row says in which version it was added and in which one it was removed. Staged changes carry
// the editable version's number already, so that a commit writes no member. Every change of a dataset locks its row first.

import { Prisma } from "../../db/generated/client.ts";

type Sql = Prisma.Sql;

/** The value of `removedIn` for a member that was not removed. */
export const NEVER = 2 ** 31 - 1;

/** The condition that the row `m` of DatasetMember is in a version. */
export function isInVersion(versionNumber: number): Sql {
  return Prisma.sql`(m."addedIn" <= ${versionNumber} AND m."removedIn" > ${versionNumber})`;
}

/** Selects the rows `m` of a version by the index of [addedIn, removedIn], which reads these rows and no others. */
export function membersOf(datasetId: string, versionNumber: number): Sql {
  return Prisma.sql`m."datasetId" = ${datasetId} AND ${isAddedBetween(datasetId, { after: 0, to: versionNumber })}
    AND m."removedIn" > ${versionNumber}`;
}

/** The condition that one version has the episode of the row `m` and another version does not. */
export function isOnlyInVersion({ versionNumber, other }: Difference): Sql {
  const { after, until } = lifeOf({ versionNumber, other });
  return Prisma.sql`m."addedIn" > ${after} AND ${isInVersion(versionNumber)} AND m."removedIn" <= ${until} AND NOT ${isBackIn(other)}`;
}

/** Selects like {@link isOnlyInVersion}, by the index of [addedIn, removedIn]: it reads only what changed between the two versions. */
export function membersOnlyIn(datasetId: string, { versionNumber, other }: Difference): Sql {
  const { after, until } = lifeOf({ versionNumber, other });
  return Prisma.sql`m."datasetId" = ${datasetId} AND ${isAddedBetween(datasetId, { after, to: versionNumber })}
    AND m."removedIn" > ${versionNumber} AND m."removedIn" <= ${until} AND NOT ${isBackIn(other)}`;
}

interface Difference {
  readonly versionNumber: number;
  readonly other: number;
}

/** A row that is in a version is in none before `addedIn`, and in none from `removedIn` on. */
function lifeOf({ versionNumber, other }: Difference): { after: number; until: number } {
  return versionNumber > other ? { after: other, until: NEVER } : { after: 0, until: other };
}

/** The condition that a version has the episode of the row `m` by another row, because it was removed and added again. */
function isBackIn(versionNumber: number): Sql {
  return Prisma.sql`EXISTS (
    SELECT FROM "DatasetMember" b WHERE b."episodeId" = m."episodeId" AND b."datasetId" = m."datasetId"
      AND b."addedIn" <= ${versionNumber} AND b."removedIn" > ${versionNumber})`;
}

interface Versions {
  readonly after: number;
  /** The last version, inclusive. */
  readonly to: number;
}

/**
 * Selects the rows `m` that were added in these versions. They are listed, because the index takes a list as so many equalities, each with
 * `removedIn` beside it.
 */
export function isAddedBetween(datasetId: string, { after, to }: Versions): Sql {
  return Prisma.sql`m."addedIn" = ANY(ARRAY(
    SELECT v."versionNumber" FROM "DatasetVersion" v
    WHERE v."datasetId" = ${datasetId} AND v."versionNumber" > ${after} AND v."versionNumber" <= ${to}
      AND v."addedEpisodeCount" > 0))`;
}
