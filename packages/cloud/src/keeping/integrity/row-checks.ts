// Checks facts that rows store twice: counters, copies of columns that lists read, and states with what belongs to them. Each statement
// returns what is wrong as `subject` and `text`. The statements that repair it take the subjects, and lock the rows first, so that
// it counts changes of the same moment, too.

import type { Database } from "../../db/client.ts";
import { Prisma } from "../../db/generated/client.ts";
import { withTransaction } from "../../db/transaction.ts";
import type { Finding } from "./finding.ts";
import type { Session } from "./listed-objects.ts";
import { pagesOf } from "./suspects.ts";

interface RowCheck {
  readonly kind: Finding["kind"];
  readonly find: Prisma.Sql;
  readonly repair?: Repair;
}

interface Repair {
  readonly lock: (subjects: readonly string[]) => Prisma.Sql;
  readonly change: (subjects: readonly string[]) => Prisma.Sql;
}

/** The members of a version are those that were added up to it, less those that were removed up to it. */
const COUNTED_VERSIONS = Prisma.sql`SELECT v.*, v."datasetId" || '/' || v."versionNumber" AS subject,
    coalesce(a.count, 0) AS added, coalesce(r.count, 0) AS removed,
    (sum(coalesce(a.count, 0) - coalesce(r.count, 0)) OVER (PARTITION BY v."datasetId" ORDER BY v."versionNumber"))::int AS episodes
  FROM "DatasetVersion" v
    LEFT JOIN (SELECT "datasetId", "addedIn" AS number, count(*)::int FROM "DatasetMember" GROUP BY 1, 2) a
      ON a."datasetId" = v."datasetId" AND a.number = v."versionNumber"
    LEFT JOIN (SELECT "datasetId", "removedIn" AS number, count(*)::int FROM "DatasetMember" GROUP BY 1, 2) r
      ON r."datasetId" = v."datasetId" AND r.number = v."versionNumber"`;
const SHOWN_VERSION = Prisma.sql`(SELECT v."episodeCount" FROM "DatasetVersion" v
  WHERE v."datasetId" = d.id AND v."versionNumber" = greatest(d."editableVersion" - 1, 1))`;
const COUNT_MISSING = Prisma.sql`(SELECT count(*)::int FROM "EpisodeRecording" e LEFT JOIN "Recording" r ON r.id = e."recordingId"
  WHERE e."episodeId" = a."episodeId" AND r."importStatus" IS DISTINCT FROM 'complete')`;
const LISTED_TOPIC = Prisma.sql`(t."importedProjectId", t."importedDeviceId", t."importedStartNs", t."importedEndNs")`;
const IMPORTED = Prisma.sql`r."importStatus" = 'complete'`;
const lockDatasets = (subjects: readonly string[]) => Prisma.sql`SELECT FROM "Dataset" d
  WHERE d.id IN (SELECT split_part(s, '/', 1) FROM unnest(${subjects}::text[]) s) ORDER BY d.id FOR UPDATE`;

export const rowChecks: readonly RowCheck[] = [
  {
    kind: "wrong state",
    find: Prisma.sql`SELECT id AS subject, 'the recording is complete, and its row lacks what a complete one has' AS text
      FROM "Recording" r WHERE ${IMPORTED}
        AND (num_nonnulls("blobKey", "siteObjectKey") <> 1 OR "importId" IS NULL OR "importedAtNs" IS NULL OR "contentSha256" IS NULL)`,
  },
  {
    kind: "wrong state",
    find: Prisma.sql`SELECT id AS subject, 'the recording is ' || "importStatus" || ', and its row holds imported data' AS text
      FROM "Recording" r WHERE NOT ${IMPORTED} AND "storedDamage" IS NULL AND location IS NULL AND "siteObjectKey" IS NULL AND ("blobKey" IS NOT NULL OR "indexKey" IS NOT NULL OR "importId" IS NOT NULL)`,
  },
  {
    kind: "wrong state",
    find: Prisma.sql`SELECT r.id AS subject, 'the recording is complete, and of its object in a customer''s bucket is known that it is gone' AS text
      FROM "Recording" r WHERE ${IMPORTED} AND location IS NOT NULL AND NOT EXISTS (SELECT FROM "BucketObject" o
        WHERE o.id = split_part(r."blobKey", '/', 2) AND o."orgId" = r."orgId" AND o."goneAtNs" IS NULL)`,
  },
  {
    kind: "wrong state",
    find: Prisma.sql`SELECT u.id AS subject, 'the upload is stored, and its import request ' || q.id || ' still awaits it' AS text
      FROM "Upload" u JOIN "ImportRequest" q ON q.id = u."requestId" WHERE u.state = 'stored' AND q.state = 'awaiting'
        AND q."blobKey" IS NULL AND NOT EXISTS (SELECT FROM "Upload" o WHERE o."requestId" = q.id AND o.id > u.id)`,
  },
  {
    kind: "wrong counter",
    find: Prisma.sql`SELECT id AS subject, 'the recording lasts ' || "endNs" - "startNs" || ' ns, and its row says ' || "durationNs" AS text
      FROM "Recording" r WHERE "durationNs" <> "endNs" - "startNs"`,
    repair: {
      lock: (subjects) => Prisma.sql`SELECT FROM "Recording" WHERE id = ANY (${subjects}) ORDER BY id FOR UPDATE`,
      change: (subjects) =>
        Prisma.sql`UPDATE "Recording" SET "durationNs" = "endNs" - "startNs" WHERE id = ANY (${subjects})`,
    },
  },
  {
    kind: "wrong counter",
    find: Prisma.sql`SELECT subject, format('the version has %s episodes, %s of them new, without %s of before; its row says %s, %s and %s',
        episodes, added, removed, "episodeCount", "addedEpisodeCount", "removedEpisodeCount") AS text
      FROM (${COUNTED_VERSIONS}) v
      WHERE (episodes, added, removed) <> ("episodeCount", "addedEpisodeCount", "removedEpisodeCount")`,
    repair: {
      lock: lockDatasets,
      change: (subjects) => Prisma.sql`UPDATE "DatasetVersion" v
        SET "episodeCount" = c.episodes, "addedEpisodeCount" = c.added, "removedEpisodeCount" = c.removed
        FROM (${COUNTED_VERSIONS}) c
        WHERE c.subject = ANY (${subjects}) AND v."datasetId" = c."datasetId" AND v."versionNumber" = c."versionNumber"`,
    },
  },
  {
    kind: "wrong counter",
    find: Prisma.sql`SELECT d.id AS subject, 'the dataset has ' || ${SHOWN_VERSION} || ' episodes, and its row says ' || d."episodeCount" AS text
      FROM "Dataset" d WHERE d."episodeCount" <> ${SHOWN_VERSION}`,
    repair: {
      lock: (subjects) => Prisma.sql`SELECT FROM "Dataset" WHERE id = ANY (${subjects}) ORDER BY id FOR UPDATE`,
      change: (subjects) =>
        Prisma.sql`UPDATE "Dataset" d SET "episodeCount" = ${SHOWN_VERSION} WHERE d.id = ANY (${subjects})`,
    },
  },
  {
    kind: "wrong counter",
    find: Prisma.sql`SELECT a."episodeId" AS subject,
        'of the episode ' || ${COUNT_MISSING} || ' recordings have no data, and its row says ' || a."missingCount" AS text
      FROM "EpisodeAvailability" a
      WHERE a."missingCount" <> ${COUNT_MISSING} OR a."hasMissing" <> (a."missingCount" > 0)`,
    repair: {
      lock: (subjects) =>
        Prisma.sql`SELECT FROM "EpisodeAvailability" WHERE "episodeId" = ANY (${subjects}) ORDER BY "episodeId" FOR UPDATE`,
      change: (
        subjects,
      ) => Prisma.sql`UPDATE "EpisodeAvailability" a SET "missingCount" = ${COUNT_MISSING}, "hasMissing" = ${COUNT_MISSING} > 0
        WHERE a."episodeId" = ANY (${subjects})`,
    },
  },
  {
    kind: "wrong copy",
    find: Prisma.sql`SELECT DISTINCT t."recordingId" AS subject, 'topics are not listed as their recording is' AS text
      FROM "RecordingTopic" t JOIN "Recording" r ON r.id = t."recordingId"
      WHERE ${LISTED_TOPIC} IS DISTINCT FROM (CASE WHEN ${IMPORTED} THEN r."projectId" END,
        CASE WHEN ${IMPORTED} THEN r."deviceId" END, CASE WHEN ${IMPORTED} THEN r."startNs" END, CASE WHEN ${IMPORTED} THEN r."endNs" END)`,
    repair: {
      lock: (subjects) => Prisma.sql`SELECT FROM "Recording" WHERE id = ANY (${subjects}) ORDER BY id FOR UPDATE`,
      change: (
        subjects,
      ) => Prisma.sql`UPDATE "RecordingTopic" t SET "importedProjectId" = CASE WHEN ${IMPORTED} THEN r."projectId" END,
          "importedDeviceId" = CASE WHEN ${IMPORTED} THEN r."deviceId" END,
          "importedStartNs" = CASE WHEN ${IMPORTED} THEN r."startNs" END, "importedEndNs" = CASE WHEN ${IMPORTED} THEN r."endNs" END
        FROM "Recording" r WHERE r.id = t."recordingId" AND r.id = ANY (${subjects})`,
    },
  },
  {
    kind: "wrong copy",
    find: Prisma.sql`SELECT DISTINCT a."recordingId" AS subject, 'attachments are not listed as their recording is' AS text
      FROM "RecordingAttachment" a JOIN "Recording" r ON r.id = a."recordingId"
      WHERE a."siteId" IS DISTINCT FROM CASE WHEN ${IMPORTED} THEN r."siteId" END
        OR (${IMPORTED} AND (a."orgId", a."projectId", a."deviceId") IS DISTINCT FROM (r."orgId", r."projectId", r."deviceId"))`,
    repair: {
      lock: (subjects) => Prisma.sql`SELECT FROM "Recording" WHERE id = ANY (${subjects}) ORDER BY id FOR UPDATE`,
      change: (
        subjects,
      ) => Prisma.sql`UPDATE "RecordingAttachment" a SET "siteId" = CASE WHEN ${IMPORTED} THEN r."siteId" END,
          "orgId" = r."orgId", "projectId" = r."projectId", "deviceId" = r."deviceId"
        FROM "Recording" r WHERE r.id = a."recordingId" AND r.id = ANY (${subjects})`,
    },
  },
  {
    kind: "missing row",
    find: Prisma.sql`SELECT r.id AS subject, 'the recording names import ' || r."importId" || ', which is not there, is deleted or is of another one' AS text
      FROM "Recording" r LEFT JOIN "Import" i ON i.id = r."importId"
      WHERE r."importId" IS NOT NULL AND (i.id IS NULL OR i."deletedAtNs" IS NOT NULL OR i."recordingId" <> r.id)`,
  },
  {
    kind: "missing row",
    find: Prisma.sql`SELECT DISTINCT t."recordingId" AS subject, 'the texts of its topics'' schemas are not all there' AS text
      FROM "RecordingTopic" t JOIN "Recording" r ON r.id = t."recordingId"
      WHERE ${IMPORTED} AND NOT EXISTS (SELECT FROM "SchemaText" s WHERE s."orgId" = r."orgId" AND s.sha256 = t."schemaSha256")`,
  },
  {
    kind: "missing row",
    find: Prisma.sql`SELECT e.id AS subject, 'the availability of the episode is not there' AS text
      FROM "Episode" e WHERE NOT EXISTS (SELECT FROM "EpisodeAvailability" a WHERE a."episodeId" = e.id)`,
  },
  {
    kind: "wrong organization",
    find: Prisma.sql`SELECT r.id AS subject, 'the recording is of organization ' || r."orgId" || ', and its project, device or session of another one' AS text
      FROM "Recording" r JOIN "Project" p ON p.id = r."projectId" LEFT JOIN "Device" d ON d.id = r."deviceId"
        LEFT JOIN "Session" s ON s.id = r."sessionId"
      WHERE p."orgId" <> r."orgId" OR d."orgId" <> r."orgId" OR s."orgId" <> r."orgId"`,
  },
  {
    kind: "wrong organization",
    find: Prisma.sql`SELECT u.id AS subject, 'the upload is of organization ' || u."orgId" || ', and its import request or key of another one' AS text
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

function lookAgain(session: Session, find: Prisma.Sql, page: readonly Wrong[]): Promise<Wrong[]> {
  const subjects = page.map(({ subject }) => subject);
  return session.query<Wrong>(
    Prisma.sql`SELECT subject, text FROM (${find}) s WHERE subject = ANY (${subjects}) ORDER BY subject`,
  );
}

async function makeGood(
  db: Pick<Database, "prisma">,
  { lock, change }: Repair,
  wrong: readonly Wrong[],
): Promise<void> {
  const subjects = wrong.map(({ subject }) => subject);
  await withTransaction(db, async (tx) => {
    await tx.$queryRaw(lock(subjects));
    await tx.$executeRaw(change(subjects));
  });
}
