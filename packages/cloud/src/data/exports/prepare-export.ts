import {
  type api,
  DataDamage,
  type Input,
  MAX_UNKNOWN_TOPICS,
  type MissingData,
  outputFormats,
} from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import type { Complete } from "../../core/complete.ts";
import { invalid } from "../../core/errors.ts";
import { withTransaction } from "../../db/transaction.ts";
import { sourcesByTopic } from "./by-topic.ts";
import { exportFileName } from "./export-file-name.ts";
import { type ExportSelection, packSelection } from "./export-selection.ts";
import { type Selected, type SelectedRecording, selectSources, toNs } from "./select-sources.ts";
import { findTopicSets, findUnknownTopics } from "./topic-sets.ts";

type Body = Input<(typeof api.exports)["create"]>;

/** The next link queues the rest. */
const MAX_INDEX_JOBS = 100;
const MOST_REASONS = 10;

export interface PreparedExport {
  /** The selection in the form of {@link packSelection}. */
  readonly packed: Buffer;
  /** The self-hosted site that has all its recordings; undefined: they are here. */
  readonly siteId: string | undefined;
  /** The one project of all its recordings. */
  readonly projectId: string;
  /** The number of recordings from which the export reads. */
  readonly recordingCount: number;
  /** Facts about the export for the answer. */
  readonly facts: {
    fileName: string;
    damage: Complete<DataDamage> | undefined;
    missing: MissingData | undefined;
    unknownTopics: string[] | undefined;
  };
}

/** Prepares everything that the stream of a selection needs, so that the data plane looks nothing up. spec: Export */
export async function prepareExport(ctx: Ctx, body: Body): Promise<PreparedExport> {
  const selected = await selectSources(ctx, body);
  const { recordings, sources, window, siteId, missing } = selected;
  const topics = body.topics ?? [];
  const damage = sumDamage(recordings);
  const unknownTopics = await findUnknownTopics(ctx, { recordingIds: recordings.map(({ id }) => id), topics });
  await requestIndexes(ctx, recordings);
  const fileName = nameFile(body, selected);
  const selection: ExportSelection = {
    fileName,
    orgId: ctx.caller.orgId,
    siteId,
    ...(await withTopicSets(ctx, body, selected)),
    damage,
    missing: missing && { recordings: missing.recordings, reasons: missing.reasons },
    topics,
    startNs: window.startNs?.toString(),
    endNs: window.endNs?.toString(),
    lastPerChannel: body.replayPolicy === "" ? undefined : { lookbackNs: toNs(body.replayLookbackSeconds)?.toString() },
    includeAttachments: body.includeAttachments,
    output: toOutput(body),
  };
  const packed = packSelection({ ...selection, sources: await sourcesByTopic(ctx, selection) });
  const shown = unknownTopics.length > 0 ? unknownTopics.slice(0, MAX_UNKNOWN_TOPICS) : undefined;
  const { projectId } = recordings[0]!;
  return {
    packed,
    siteId,
    projectId,
    recordingCount: sources.length,
    facts: { fileName, damage, missing, unknownTopics: shown },
  };
}

function nameFile({ topics, outputFormat }: Body, { recordings, window }: Selected): string {
  const first = recordings.reduce<bigint | undefined>((least, { startNs }) => {
    return least === undefined || startNs < least ? startNs : least;
  }, undefined);
  const isWithin = window.startNs !== undefined && (first === undefined || window.startNs > first);
  return exportFileName({
    deviceNames: [...new Set(recordings.flatMap(({ device }) => device?.name ?? []))],
    startNs: isWithin ? window.startNs : first,
    topics: topics ?? [],
    format: outputFormats[outputFormat],
  });
}

/**
 * For the latest messages: the channels of each recording before the window are known here, so that the export opens none in vain to find
 * them.
 */
async function withTopicSets(
  ctx: Ctx,
  { replayPolicy, topics }: Body,
  { sources, recordings, window }: Selected,
): Promise<Pick<ExportSelection, "sources" | "topicSets">> {
  const { startNs } = window;
  if (replayPolicy === "" || startNs === undefined) return { sources, topicSets: [] };
  const recordingIds = recordings.filter((recording) => recording.startNs < startNs).map(({ id }) => id);
  const { topicSets, setOf } = await findTopicSets(ctx, { recordingIds, topics: topics ?? [] });
  return { topicSets, sources: sources.map((source) => ({ ...source, topicSet: setOf.get(source.recordingId) })) };
}

/** Recordings that were imported before there were verified indexes get theirs now; until then each export makes one for itself. */
async function requestIndexes(ctx: Ctx, recordings: readonly SelectedRecording[]): Promise<void> {
  const without = recordings
    .filter(({ indexKey, siteObjectKey }) => indexKey === null && siteObjectKey === null)
    .map(({ id }) => id);
  if (without.length === 0) return;
  await withTransaction(ctx.db, (tx) =>
    ctx.jobs.enqueueIndexing(tx, ctx.caller.orgId, without.slice(0, MAX_INDEX_JOBS)),
  );
}

function toOutput({ outputFormat, compressionFormat: compression }: Body): ExportSelection["output"] {
  const format = outputFormats[outputFormat];
  if (format === "mcap") return { format, compression };
  if (compression === "zstd") invalid("compressionFormat", "must be lz4 or left out for a bag, which cannot be zstd");
  return { format, compression };
}

/**
 * Sums the damage of several recordings; undefined if none is damaged. Damage is reported before a download: in the recording, in the answer
 * that has the link, and in the stream's header `x-downlink-damage`. A file whose messages fail a checksum is not imported; the damage that
 * is reported concerns an attachment, a summary, or a checksum that nothing depends on.
 */
function sumDamage(recordings: readonly { readonly damage: string | null }[]): Complete<DataDamage> | undefined {
  const damages = recordings.flatMap(({ damage }) => (damage === null ? [] : [DataDamage.parse(JSON.parse(damage))]));
  if (damages.length === 0) return undefined;
  const sumOf = (name: Exclude<keyof DataDamage, "isCountKnown" | "reasons">): number =>
    damages.reduce((sum, damage) => sum + (damage[name] ?? 0), 0);
  return {
    chunksLost: sumOf("chunksLost"),
    messagesLost: sumOf("messagesLost"),
    isCountKnown: damages.every(({ isCountKnown }) => isCountKnown),
    attachmentsLost: sumOf("attachmentsLost"),
    bytesLost: sumOf("bytesLost"),
    messagesGuessed: sumOf("messagesGuessed") || undefined,
    messagesDoubted: sumOf("messagesDoubted") || undefined,
    reasons: damages.flatMap(({ reasons }) => reasons).slice(0, MOST_REASONS),
  };
}
