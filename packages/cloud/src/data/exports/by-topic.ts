// A few topics of recordings at a self-hosted site that splits are read from the files of these topics, and nothing else of the recordings
// is read. All other exports read the recordings: with all topics, attachments or latest messages, and as bags. The order of messages of
// equal times differs between topics, and not within one.

import { lakeFileKey, lakeIndexKey, topicHashOf } from "../../background/indexing/lake-key.ts";
import type { Ctx } from "../../calls/context/context.ts";
import type { ExportSelection, StoredSource } from "./export-selection.ts";

/** An export has so many sources open at once, so that it is never refused for what the recordings themselves would allow. */
const MOST_FILES = 256;

type Wanted = Pick<
  ExportSelection,
  "sources" | "topics" | "siteId" | "lastPerChannel" | "includeAttachments" | "output"
>;

/** Replaces each recording with the files of its topics, if it has them and these will do. */
export async function sourcesByTopic(ctx: Ctx, wanted: Wanted): Promise<StoredSource[]> {
  const { sources, topics } = wanted;
  if (!mayBeByTopic(wanted)) return sources;
  const rows = await findFiles(ctx, sources, topics);
  const files = Map.groupBy(rows, ({ recordingId }) => recordingId);
  const replaced = sources.flatMap((source) => {
    const own = files.get(source.recordingId);
    // A recording without messages has no files.
    return own?.some(({ topicHash }) => topicHash !== null) ? own.flatMap((row) => toSource(row)) : [source];
  });
  return replaced.length > MOST_FILES ? sources : replaced;
}

function mayBeByTopic({ siteId, topics, lastPerChannel, includeAttachments, output }: Wanted): boolean {
  const hasFew = topics.length > 0 && topics.length <= MOST_FILES;
  return siteId !== undefined && hasFew && !lastPerChannel && !includeAttachments && output.format === "mcap";
}

interface Row {
  readonly recordingId: string;
  readonly importId: string;
  /** The others are null if the recording has no files. */
  readonly topicHash: string | null;
  readonly sizeBytes: bigint | null;
  readonly sha256: string | null;
  readonly startNs: bigint | null;
  readonly endNs: bigint | null;
}

/** If a recording has none of the topics, one of its other files is found: each of them has the recording's metadata. */
function findFiles(ctx: Ctx, sources: readonly StoredSource[], topics: readonly string[]): Promise<Row[]> {
  const recordingIds = sources.map(({ recordingId }) => recordingId);
  const hashes = topics.map(topicHashOf);
  return ctx.db.prisma.$queryRaw<Row[]>`
    SELECT r.id AS "recordingId", l."importId", f."topicHash", f."sizeBytes", f.sha256, f."startNs", f."endNs"
    FROM "Recording" r JOIN "Lake" l ON l."importId" = r."importId" JOIN "Site" s ON s.id = l."siteId"
      LEFT JOIN "LakeFile" f ON f."importId" = l."importId" AND (f."topicHash" = ANY(${hashes}) OR f."topicHash" = (
        SELECT min(any_of."topicHash") FROM "LakeFile" any_of WHERE any_of."importId" = l."importId" AND NOT EXISTS (
          SELECT FROM "LakeFile" wanted WHERE wanted."importId" = l."importId" AND wanted."topicHash" = ANY(${hashes}))))
    WHERE r.id = ANY(${recordingIds}) AND l.state = 'listed' AND s."indexingStrategy" = 'split-files' AND r."siteId" = l."siteId"
    ORDER BY r.id, f."startNs", f."topicHash"`;
}

function toSource({ recordingId, importId, topicHash, sizeBytes, sha256, startNs, endNs }: Row): StoredSource[] {
  if (topicHash === null) return [];
  const name = { importId, topicHash };
  return [
    {
      recordingId,
      blobKey: lakeFileKey(name),
      indexKey: lakeIndexKey(name),
      fileName: `${recordingId}.mcap`,
      sizeBytes: Number(sizeBytes),
      sha256: sha256!,
      startNs: String(startNs),
      endNs: String(endNs),
    },
  ];
}
