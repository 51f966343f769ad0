import { type api, type Input, MAX_UNKNOWN_TOPICS, type Output } from "@downlink/protocol";
import { makeLink } from "../blobs/signed-link.ts";
import type { Ctx } from "../context/context.ts";
import type { Complete } from "../core/complete.ts";
import { invalid } from "../core/errors.ts";
import { newId } from "../db/ids.ts";
import { withTransaction } from "../db/transaction.ts";
import type { Handlers } from "../http/handlers.ts";
import { quotasOf } from "../quotas/require-room.ts";
import { exportFileName } from "./export-file-name.ts";
import { EXPORT_PATH } from "./export-route.ts";
import { type ExportSelection, packSelection } from "./export-selection.ts";
import { type Selected, type SelectedRecording, selectSources, toNs } from "./select-sources.ts";
import { sumDamage } from "./sum-damage.ts";
import { findTopicSets, findUnknownTopics } from "./topic-sets.ts";

type Contract = typeof api.exports;
type Body = Input<Contract["create"]>;

const LINK_LIFE_MS = 15_000;
/** Of a selection inside a link, which some programs on the way limit to 8 KiB. */
const MAX_CLAIM_CHARACTERS = 4096;
/** Long after the link has expired. */
const STORED_SELECTION_SECONDS = 3600;
/** The next link asks for more. */
const MAX_INDEX_JOBS = 100;

export const exportLinks: Handlers<Contract> = { create: createExportLink };

/** The link names everything that the stream needs, so that the data plane asks nobody. spec: Export */
async function createExportLink(ctx: Ctx, body: Body): Promise<Complete<Output<Contract["create"]>>> {
  const selected = await selectSources(ctx, body);
  const { recordings, window } = selected;
  const topics = body.topics ?? [];
  const damage = sumDamage(recordings);
  const unknownTopics = await findUnknownTopics(ctx, { recordingIds: recordings.map(({ id }) => id), topics });
  await requestIndexes(ctx, recordings);
  const fileName = nameFile(body, selected);
  const packed = packSelection({
    fileName,
    ...(await withTopicSets(ctx, body, selected)),
    damage,
    topics,
    startNs: window.startNs?.toString(),
    endNs: window.endNs?.toString(),
    lastPerChannel: body.replayPolicy === "" ? undefined : { lookbackNs: toNs(body.replayLookbackSeconds)?.toString() },
    includeAttachments: body.includeAttachments,
    output: toOutput(body),
  });
  const claims = { ...(await toClaims(ctx, packed)), ...(await quotaClaim(ctx)) };
  const told = unknownTopics.slice(0, MAX_UNKNOWN_TOPICS);
  return {
    ...makeLink(ctx, { method: "GET", path: EXPORT_PATH, claims, lifeMs: LINK_LIFE_MS }),
    fileName,
    damage,
    unknownTopics: told.length > 0 ? told : undefined,
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
    format: outputFormat === "bag1" ? "bag1" : "mcap",
  });
}

/** For the latest messages: what each recording before the window has is known here, and need not be looked up in it. */
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
  const without = recordings.filter(({ indexKey }) => indexKey === null).map(({ id }) => id);
  if (without.length === 0) return;
  await withTransaction(ctx.db, (tx) =>
    ctx.jobs.enqueueIndexing(tx, ctx.caller.orgId, without.slice(0, MAX_INDEX_JOBS)),
  );
}

function toOutput({ outputFormat, compressionFormat: compression }: Body): ExportSelection["output"] {
  if (outputFormat !== "bag1") return { format: "mcap", compression };
  if (compression === "zstd") invalid("compressionFormat", "must be lz4 or left out for a bag, which cannot be zstd");
  return { format: "bag1", compression };
}

/** A large selection is an object of its own, which the link names. Its removal is a job before its first byte is written. */
async function toClaims(ctx: Ctx, packed: Buffer): Promise<Record<string, string>> {
  const text = packed.toString("base64url");
  if (text.length <= MAX_CLAIM_CHARACTERS) return { selection: text };
  const blobKey = `${ctx.caller.orgId}/${newId("exp")}`;
  await withTransaction(ctx.db, (tx) =>
    ctx.jobs.enqueue(tx, "remove-object", { blobKey }, { delaySeconds: STORED_SELECTION_SECONDS }),
  );
  await ctx.blobs.put(blobKey, piecesOf(packed), { expectedBytes: packed.byteLength });
  return { selectionKey: blobKey };
}

/** The stream asks no database. */
async function quotaClaim({ db, caller }: Ctx): Promise<Record<string, string>> {
  const { maxExports } = await quotasOf(db, caller.orgId);
  return maxExports === null ? {} : { atOnce: String(maxExports) };
}

async function* piecesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
