// Checks facts that rows store twice: counters, copies of columns that lists read, and states with what belongs to them. Each statement
// returns what is wrong as `subject` and `text`. The statement that repairs it takes the subjects as `$1` and locks the rows first, so that
// it counts changes of the same moment, too.

import type { Database } from "../../db/client.ts";
import { withTransaction } from "../../db/transaction.ts";
import type { Finding } from "./finding.ts";
import type { Session } from "./listed-objects.ts";
import { pagesOf } from "./suspects.ts";

interface RowCheck {
  readonly kind: Finding["kind"];
  readonly find: string;
  readonly repair?: Repair;
}

interface Repair {
  readonly lock: string;
  readonly change: string;
}

/** The members of a version are those that were added up to it, less those that were removed up to it. */
const COUNTED_VERSIONS = `SELECT v.*, v."datasetId" || '/' || v."versionNumber" AS subject,
    coalesce(a.count, 0) AS added, coalesce(r.count, 0) AS removed,
    (sum(coalesce(a.count, 0) - coalesce(r.count, 0)) OVER (PARTITION BY v."datasetId" ORDER BY v."versionNumber"))::int AS episodes
  FROM "DatasetVersion" v
    LEFT JOIN (SELECT "datasetId", "addedIn" AS number, count(*)::int FROM "DatasetMember" GROUP BY 1, 2) a
      ON a."datasetId" = v."datasetId" AND a.number = v."versionNumber"
    LEFT JOIN (SELECT "datasetId", "removedIn" AS number, count(*)::int FROM "DatasetMember" GROUP BY 1, 2) r
      ON r."datasetId" = v."datasetId" AND r.number = v."versionNumber"`;
const SHOWN_VERSION = `(SELECT v."episodeCount" FROM "DatasetVersion" v
  WHERE v."datasetId" = d.id AND v."versionNumber" = greatest(d."editableVersion" - 1, 1))`;
const COUNT_MISSING = `(SELECT count(*)::int FROM "EpisodeRecording" e LEFT JOIN "Recording" r ON r.id = e."recordingId"
  WHERE e."episodeId" = a."episodeId" AND r."importStatus" IS DISTINCT FROM 'complete')`;
const LISTED_TOPIC = `(t."importedProjectId", t."importedDeviceId", t."importedStartNs", t."importedEndNs")`;
const IMPORTED = `r."importStatus" = 'complete'`;
const DATASETS_OF_VERSIONS = `SELECT FROM "Dataset" d
  WHERE d.id IN (SELECT split_part(s, '/', 1) FROM unnest($1::text[]) s) ORDER BY d.id FOR UPDATE`;

export const rowChecks: readonly RowCheck[] = [
  {
    kind: "wrong state",
    find: `SELECT id AS subject, 'the recording is complete, and its row lacks what a complete one has' AS text
      FROM "Recording" r WHERE ${IMPORTED}
        AND (num_nonnulls("blobKey", "siteObjectKey") <> 1 OR "importId" IS NULL OR "importedAtNs" IS NULL OR "contentSha256" IS NULL)`,
  },
  {
    kind: "wrong state",
    find: `SELECT id AS subject, 'the recording is ' || "importStatus" || ', and its row holds imported data' AS text
      FROM "Recording" r WHERE NOT ${IMPORTED} AND "storedDamage" IS NULL AND location IS NULL AND "siteObjectKey" IS NULL AND ("blobKey" IS NOT NULL OR "indexKey" IS NOT NULL OR "importId" IS NOT NULL)`,
  },
  {
    kind: "wrong state",
    find: `SELECT r.id AS subject, 'the recording is complete, and of its object in a customer''s bucket is known that it is gone' AS text
      FROM "Recording" r WHERE ${IMPORTED} AND location IS NOT NULL AND NOT EXISTS (SELECT FROM "BucketObject" o
        WHERE o.id = split_part(r."blobKey", '/', 2) AND o."orgId" = r."orgId" AND o."goneAtNs" IS NULL)`,
  },
  {
    kind: "wrong state",
    find: `SELECT u.id AS subject, 'the upload is stored, and its import request ' || q.id || ' still awaits it' AS text
      FROM "Upload" u JOIN "ImportRequest" q ON q.id = u."requestId" WHERE u.state = 'stored' AND q.state = 'awaiting'
        AND q."blobKey" IS NULL AND NOT EXISTS (SELECT FROM "Upload" o WHERE o."requestId" = q.id AND o.id > u.id)`,
  },
  {
    kind: "wrong counter",
    find: `SELECT id AS subject, 'the recording lasts ' || "endNs" - "startNs" || ' ns, and its row says ' || "durationNs" AS text
      FROM "Recording" r WHERE "durationNs" <> "endNs" - "startNs"`,
    repair: {
      lock: `SELECT FROM "Recording" WHERE id = ANY($1) ORDER BY id FOR UPDATE`,
      change: `UPDATE "Recording" SET "durationNs" = "endNs" - "startNs" WHERE id = ANY($1)`,
    },
  },
  {
    kind: "wrong counter",
    find: `SELECT subject, format('the version has %s episodes, %s of them new, without %s of before; its row says %s, %s and %s',
        episodes, added, removed, "episodeCount", "addedEpisodeCount", "removedEpisodeCount") AS text
      FROM (${COUNTED_VERSIONS}) v
      WHERE (episodes, added, removed) <> ("episodeCount", "addedEpisodeCount", "removedEpisodeCount")`,
    repair: {
      lock: DATASETS_OF_VERSIONS,
      change: `UPDATE "DatasetVersion" v
        SET "episodeCount" = c.episodes, "addedEpisodeCount" = c.added, "removedEpisodeCount" = c.removed
        FROM (${COUNTED_VERSIONS}) c
        WHERE c.subject = ANY($1) AND v."datasetId" = c."datasetId" AND v."versionNumber" = c."versionNumber"`,
    },
  },
  {
    kind: "wrong counter",
    find: `SELECT d.id AS subject, 'the dataset has ' || ${SHOWN_VERSION} || ' episodes, and its row says ' || d."episodeCount" AS text
      FROM "Dataset" d WHERE d."episodeCount" <> ${SHOWN_VERSION}`,
    repair: {
      lock: `SELECT FROM "Dataset" WHERE id = ANY($1) ORDER BY id FOR UPDATE`,
      change: `UPDATE "Dataset" d SET "episodeCount" = ${SHOWN_VERSION} WHERE d.id = ANY($1)`,
    },
  },
  {
    kind: "wrong counter",
    find: `SELECT a."episodeId" AS subject,
        'of the episode ' || ${COUNT_MISSING} || ' recordings have no data, and its row says ' || a."missingCount" AS text
      FROM "EpisodeAvailability" a
      WHERE a."missingCount" <> ${COUNT_MISSING} OR a."hasMissing" <> (a."missingCount" > 0)`,
    repair: {
      lock: `SELECT FROM "EpisodeAvailability" WHERE "episodeId" = ANY($1) ORDER BY "episodeId" FOR UPDATE`,
      change: `UPDATE "EpisodeAvailability" a SET "missingCount" = ${COUNT_MISSING}, "hasMissing" = ${COUNT_MISSING} > 0
        WHERE a."episodeId" = ANY($1)`,
    },
  },
  {
    kind: "wrong copy",
    find: `SELECT DISTINCT t."recordingId" AS subject, 'topics are not listed as their recording is' AS text
      FROM "RecordingTopic" t JOIN "Recording" r ON r.id = t."recordingId"
      WHERE ${LISTED_TOPIC} IS DISTINCT FROM (CASE WHEN ${IMPORTED} THEN r."projectId" END,
        CASE WHEN ${IMPORTED} THEN r."deviceId" END, CASE WHEN ${IMPORTED} THEN r."startNs" END, CASE WHEN ${IMPORTED} THEN r."endNs" END)`,
    repair: {
      lock: `SELECT FROM "Recording" WHERE id = ANY($1) ORDER BY id FOR UPDATE`,
      change: `UPDATE "RecordingTopic" t SET "importedProjectId" = CASE WHEN ${IMPORTED} THEN r."projectId" END,
          "importedDeviceId" = CASE WHEN ${IMPORTED} THEN r."deviceId" END,
          "importedStartNs" = CASE WHEN ${IMPORTED} THEN r."startNs" END, "importedEndNs" = CASE WHEN ${IMPORTED} THEN r."endNs" END
        FROM "Recording" r WHERE r.id = t."recordingId" AND r.id = ANY($1)`,
    },
  },
  {
    kind: "wrong copy",
    find: `SELECT DISTINCT a."recordingId" AS subject, 'attachments are not listed as their recording is' AS text
      FROM "RecordingAttachment" a JOIN "Recording" r ON r.id = a."recordingId"
      WHERE a."siteId" IS DISTINCT FROM CASE WHEN ${IMPORTED} THEN r."siteId" END
        OR (${IMPORTED} AND (a."orgId", a."projectId", a."deviceId") IS DISTINCT FROM (r."orgId", r."projectId", r."deviceId"))`,
    repair: {
      lock: `SELECT FROM "Recording" WHERE id = ANY($1) ORDER BY id FOR UPDATE`,
      change: `UPDATE "RecordingAttachment" a SET "siteId" = CASE WHEN ${IMPORTED} THEN r."siteId" END,
          "orgId" = r."orgId", "projectId" = r."projectId", "deviceId" = r."deviceId"
        FROM "Recording" r WHERE r.id = a."recordingId" AND r.id = ANY($1)`,
    },
  },
  {
    kind: "missing row",
    find: `SELECT r.id AS subject, 'the recording names import ' || r."importId" || ', which is not there, is deleted or is of another one' AS text
      FROM "Recording" r LEFT JOIN "Import" i ON i.id = r."importId"
      WHERE r."importId" IS NOT NULL AND (i.id IS NULL OR i."deletedAtNs" IS NOT NULL OR i."recordingId" <> r.id)`,
  },
  {
    kind: "missing row",
    find: `SELECT DISTINCT t."recordingId" AS subject, 'the texts of its topics'' schemas are not all there' AS text
      FROM "RecordingTopic" t JOIN "Recording" r ON r.id = t."recordingId"
      WHERE ${IMPORTED} AND NOT EXISTS (SELECT FROM "SchemaText" s WHERE s."orgId" = r."orgId" AND s.sha256 = t."schemaSha256")`,
  },
  {
    kind: "missing row",
    find: `SELECT e.id AS subject, 'the availability of the episode is not there' AS text
      FROM "Episode" e WHERE NOT EXISTS (SELECT FROM "EpisodeAvailability" a WHERE a."episodeId" = e.id)`,
  },
  {
    kind: "wrong organization",
    find: `SELECT r.id AS subject, 'the recording is of organization ' || r."orgId" || ', and its project, device or session of another one' AS text
      FROM "Recording" r JOIN "Project" p ON p.id = r."projectId" LEFT JOIN "Device" d ON d.id = r."deviceId"
        LEFT JOIN "Session" s ON s.id = r."sessionId"
      WHERE p."orgId" <> r."orgId" OR d."orgId" <> r."orgId" OR s."orgId" <> r."orgId"`,
  },
  {
    kind: "wrong organization",
    find: `SELECT u.id AS subject, 'the upload is of organization ' || u."orgId" || ', and its import request or key of another one' AS text
      FROM "Upload" u JOIN "ImportRequest" q ON q.id = u."requestId"
      WHERE q."orgId" <> u."orgId" OR split_part(u."blobKey", '/', 1) <> u."orgId"`,
  },
];

interface Wrong {
  readonly subject: string;
  readonly text: string;
}

/** A mismatch that still exists when it is checked again is a finding. If `db` is given, what can be repaired is repaired. */
export async function* findWrongRows(session: Session, db?: Pick<Database, "prisma">): AsyncGenerator<Finding, void> {
  for (const { kind, find, repair } of rowChecks)
    for await (const page of pagesOf<Wrong>(session, find)) {
      const wrong = await lookAgain(session, find, page);
      const isRepaired = db !== undefined && repair !== undefined && wrong.length > 0;
      if (isRepaired) await makeGood(db, repair, wrong);
      for (const { subject, text } of wrong) yield { kind, subject, text, isRepaired };
    }
}

function lookAgain(session: Session, find: string, page: readonly Wrong[]): Promise<Wrong[]> {
  const subjects = page.map(({ subject }) => subject);
  const stillWrong = `SELECT subject, text FROM (${find}) s WHERE subject = ANY($1) ORDER BY subject`;
  return session.query<Wrong>(stillWrong, [subjects]);
}

async function makeGood(
  db: Pick<Database, "prisma">,
  { lock, change }: Repair,
  wrong: readonly Wrong[],
): Promise<void> {
  const subjects = wrong.map(({ subject }) => subject);
  await withTransaction(db, async (tx) => {
    await tx.$queryRawUnsafe(lock, subjects);
    await tx.$executeRawUnsafe(change, subjects);
  });
}
