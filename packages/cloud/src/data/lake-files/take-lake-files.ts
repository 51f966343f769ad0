import type { LakeFileReport } from "@downlink/protocol";
import { topicHashOf } from "../../background/indexing/lake-key.ts";
import type { Moment } from "../../background/jobs/transaction-context.ts";
import { refuse } from "../../core/errors.ts";
import type { LakeModel } from "../../db/generated/models.ts";
import type { Transaction } from "../../db/transaction.ts";
import { keepNeeded } from "./needed-lakes.ts";

interface Page {
  readonly siteId: string;
  readonly importId: string;
  readonly number: number;
  readonly isLast: boolean;
  readonly files: readonly LakeFileReport[];
}

export type LakeAnswer = { readonly state: LakeModel["state"] | "unneeded"; readonly refusal?: string | undefined };

/**
 * Takes a page of the files by topic of an import. With the last page all are listed in this transaction, if they are what was found in the
 * recording; otherwise they are refused. The caller's transaction holds the site's lease, so pages come one after the other.
 */
export async function takeLakeFiles({ tx, nowNs }: Moment, page: Page): Promise<LakeAnswer> {
  const { siteId, importId, isLast, files } = page;
  const lake = await tx.lake.findUnique({ where: { importId } });
  if (lake && lake.siteId !== siteId) return { state: "unneeded" };
  if (lake?.state === "refused") return { state: lake.state, refusal: lake.refusal ?? undefined };
  if (!(await keepNeeded(tx, siteId, [importId])).has(importId)) return { state: "unneeded" };
  if (lake?.state === "listed") return { state: lake.state };
  await countPage({ tx, nowNs }, lake, page);
  const rows = files.map(({ topic, size, sha256, messageCount, start, end }) => ({
    ...{ importId, topic, topicHash: topicHashOf(topic), sizeBytes: BigInt(size), sha256 },
    ...{ messageCount: BigInt(messageCount), startNs: start, endNs: end },
  }));
  await tx.lakeFile.createMany({ data: rows, skipDuplicates: true });
  return isLast ? decide(tx, importId) : { state: "reporting" };
}

/** The first page starts over, and forgets what a killed process had reported. */
async function countPage({ tx, nowNs }: Moment, lake: LakeModel | null, page: Page): Promise<void> {
  const { siteId, importId, number } = page;
  if (number === 1) {
    await tx.lake.deleteMany({ where: { importId } });
    const data = { importId, siteId, state: "reporting", pages: 1, createdAtNs: nowNs } as const;
    await tx.lake.create({ data });
    return;
  }
  const isNext = lake !== null && (number === lake.pages + 1 || number === lake.pages);
  if (!isNext)
    refuse("Conflict", `page ${number} of the files of ${importId} is not the next one; begin with the first`);
  await tx.lake.update({ where: { importId }, data: { pages: number } });
}

async function decide(tx: Transaction, importId: string): Promise<LakeAnswer> {
  const refusal = await findDifference(tx, importId);
  const state = refusal === undefined ? "listed" : "refused";
  if (state === "refused") await tx.lakeFile.deleteMany({ where: { importId } });
  await tx.lake.update({ where: { importId }, data: { state, refusal: refusal ?? null } });
  return { state, refusal };
}

/** Says where the files differ from what was found in the recording when it was imported. */
async function findDifference(tx: Transaction, importId: string): Promise<string | undefined> {
  const [row] = await tx.$queryRaw<{ topic: string; found: bigint | null; made: bigint | null }[]>`
    SELECT coalesce(found.topic, made.topic) AS topic, found.count AS found, made.count AS made
    FROM (
      SELECT t.topic, sum(t."messageCount")::bigint AS count FROM "Recording" r JOIN "RecordingTopic" t ON t."recordingId" = r.id
      WHERE r."importId" = ${importId} AND t."messageCount" > 0 GROUP BY t.topic
    ) found
    FULL JOIN (SELECT topic, "messageCount" AS count FROM "LakeFile" WHERE "importId" = ${importId}) made ON made.topic = found.topic
    WHERE found.count IS DISTINCT FROM made.count ORDER BY 1 LIMIT 1`;
  if (!row) return undefined;
  return `topic ${row.topic} has ${row.found ?? 0} messages in the recording, and ${row.made ?? 0} in its file`;
}
