import { DAMAGE_HEADER, MISSING_HEADER } from "@downlink/protocol";
import { type ExportSource, exportBag, exportMcap, SourceChangedError } from "@downlink/recordings";
import type { Context } from "hono";
import { streamBody } from "../../calls/answers/stream-response.ts";
import type { Env } from "../../calls/connections/env.ts";
import { linkOf } from "../../calls/connections/in-turn.ts";
import { newGoneSignal } from "../../calls/connections/new-gone-signal.ts";
import { yieldInSteps } from "../../calls/connections/yield-in-steps.ts";
import type { Deps } from "../../calls/context/context.ts";
import { contentDisposition } from "../../calls/data-plane/content-disposition.ts";
import { type DataPlaneDeps, logBreak, ownerOfBlob } from "../../calls/data-plane/link-request.ts";
import { quotaReached } from "../../calls/quotas/require-room.ts";
import { doubtData, markDamaged } from "../../import-life/mark-damaged.ts";
import type { Taker } from "../../process/limits/fair-turns.ts";
import type { Turns } from "../../process/limits/turns.ts";
import type { BlobStore } from "../../store/blobs/blob-store.ts";
import type { ExportSelection } from "./export-selection.ts";
import { holdWhileRead } from "./hold-while-read.ts";
import { openIndex, openRecording, UnsoundDataError } from "./open-stored.ts";

/** A self-hosted site has no database: there, what is wrong with stored bytes stands in the log alone. */
export type ExportDeps = DataPlaneDeps &
  Pick<Deps, "readsWholeChunks" | "metrics" | "turns"> &
  Partial<Pick<Deps, "db" | "jobs">>;

/** So large are pieces that own their memory. */
const LEAST_GIVEN_BACK_BYTES = 64 * 1024;

interface Streamed {
  readonly selection: ExportSelection;
  /** How many exports of the organization may be sent at the same time; undefined: any number. */
  readonly atOnce: number | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** Aborted when the receiver goes away or the link ends, so that the work for it stops. */
  readonly gone: AbortController;
}

/**
 * Answers with the selection, in turn with other exports; a failure in the middle of the stream aborts the connection. spec: wire contract
 * §5
 */
export async function streamSelection(c: Context<Env>, deps: ExportDeps, streamed: Streamed): Promise<Response> {
  const { selection, atOnce, headers, gone } = streamed;
  const owner = ownerOf(selection);
  requireTurn(deps.turns, owner, atOnce);
  const taker = { owner, token: linkOf(c) };
  using _turn = await deps.turns.exports.take(taker, () => newGoneSignal(c));
  const steps = makeInSteps(deps, { selection, taker, signal: gone.signal });
  const places = deps.turns.readExports;
  const read = holdWhileRead(steps, ({ hasBegun }) => places.take({ ...taker, hasBegun }, () => gone.signal));
  return await streamBody(c, countExport(deps, selection, read), {
    controller: gone,
    headers: {
      "content-type": "application/octet-stream",
      "content-disposition": contentDisposition(selection.fileName),
      ...damageHeader(selection),
      ...missingHeader(selection),
      ...headers,
    },
    onFailure: logBreak(c, deps),
    ...(selection.output.format === "mcap" && { onSent: giveBack }),
  });
}

interface Making {
  readonly selection: ExportSelection;
  readonly taker: Taker;
  readonly signal: AbortSignal;
}

/** Yields the bytes of the selection for a reader that stores them. It counts as an export, and is not one of those that clients read. */
export function makeExport(deps: ExportDeps, making: Making): AsyncGenerator<Uint8Array> {
  return countExport(deps, making.selection, makeInSteps(deps, making));
}

/** Yields the bytes of the selection for our own look at a recording, which counts as no export. */
export function readSelection(deps: ExportDeps, making: Making): AsyncGenerator<Uint8Array> {
  return noteFindings(deps, making.selection, makeInSteps(deps, making));
}

function makeInSteps(deps: ExportDeps, { selection, taker, signal }: Making): AsyncGenerator<Uint8Array> {
  const pieces = exportSelection(deps, selection, signal);
  return yieldInSteps(pieces, () => deps.turns.exportSteps.take(taker, () => signal));
}

/** A large piece of an MCAP export owns its memory. Without this, V8 would look for garbage after each 64 MB that were sent. */
function giveBack({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && byteLength >= LEAST_GIVEN_BACK_BYTES) buffer.transfer(0);
}

async function* countExport(
  deps: ExportDeps,
  selection: ExportSelection,
  pieces: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const { metrics } = deps;
  let outcome = "broken";
  metrics.exportsActive.inc();
  try {
    yield* noteFindings(deps, selection, pieces);
    outcome = "complete";
  } finally {
    metrics.exportsActive.dec();
    metrics.exports.inc({ outcome });
  }
}

/** Yields the pieces. A finding about stored bytes is written down with their recordings. */
async function* noteFindings(
  deps: ExportDeps,
  { sources }: ExportSelection,
  pieces: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    yield* pieces;
  } catch (error) {
    await noteFound(deps, sources, error);
    throw error;
  }
}

type Sources = ExportSelection["sources"];

/** Opens stored bytes. Whatever that finds out about them is written down with their recordings. */
export async function noteUnsound<T>(deps: ExportDeps, sources: Sources, open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    await noteFound(deps, sources, error);
    throw error;
  }
}

async function noteFound(deps: ExportDeps, sources: Sources, error: unknown): Promise<void> {
  await markUnsound(deps, sources, error).catch((err) => deps.log.error({ err }, "damage was not written down"));
}

async function markUnsound({ db, jobs, clock }: ExportDeps, sources: Sources, error: unknown): Promise<void> {
  if (!db || !jobs) return;
  const deps = { db, jobs, clock };
  if (error instanceof UnsoundDataError) return markDamaged(deps, error.blobKey, error.damage);
  if (!(error instanceof SourceChangedError)) return;
  const [first, ...others] = sources;
  if (others.length === 0) return markDamaged(deps, first!.blobKey, "altered");
  const recordingIds = sources.map(({ recordingId }) => recordingId);
  await doubtData(deps, ownerOfBlob(first!.blobKey), recordingIds);
}

function requireTurn({ exports }: Pick<Turns, "exports">, owner: string, atOnce: number | undefined): void {
  if (atOnce !== undefined && exports.countOf(owner) >= atOnce)
    // the check runs in the same step in which the turn is taken
    throw quotaReached(`has ${atOnce} exports at once already, as many as it may have`);
}

/** Returns the organization whose objects are read; a link names those of only one. */
function ownerOf({ orgId, sources }: ExportSelection): string {
  return orgId ?? ownerOfBlob(sources[0]?.blobKey ?? "");
}

function damageHeader({ damage }: ExportSelection): Record<string, string> {
  if (!damage) return {};
  const { reasons, ...sums } = damage;
  const codes = [...new Set(reasons.map(({ code }) => code))];
  return { [DAMAGE_HEADER]: JSON.stringify({ ...sums, codes }) };
}

function missingHeader({ missing }: ExportSelection): Record<string, string> {
  return missing ? { [MISSING_HEADER]: JSON.stringify(missing) } : {};
}

function exportSelection(
  deps: ExportDeps,
  selection: ExportSelection,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const { topics, startNs, endNs, lastPerChannel, includeAttachments, output } = selection;
  const sources = toSources(deps.blobs, selection);
  const options = {
    topics,
    startNs: toBigInt(startNs),
    endNs: toBigInt(endNs),
    lastPerChannel: lastPerChannel && { lookbackNs: toBigInt(lastPerChannel.lookbackNs) },
    readsWholeChunks: deps.readsWholeChunks,
    signal,
  };
  switch (output.format) {
    case "mcap":
      return exportMcap(sources, { ...options, compression: output.compression, includeAttachments });
    case "bag1":
      return exportBag(sources, { ...options, compression: output.compression });
  }
}

/** Every imported recording was complete. If one has not been indexed since, its readable parts are exported, and the rest is named. */
function toSources(blobs: BlobStore, { sources, topicSets }: ExportSelection): ExportSource[] {
  const topicKeys = topicSets.map((entries) => new Map(entries));
  return sources.map((source) => ({
    fileName: source.fileName,
    startNs: BigInt(source.startNs),
    endNs: BigInt(source.endNs),
    sha256: source.sha256,
    isSalvage: true,
    topicKeys: source.topicSet === undefined ? undefined : topicKeys[source.topicSet],
    open: () => openRecording(blobs, source),
    openIndex: () => openIndex(blobs, source),
  }));
}

function toBigInt(text: string | undefined): bigint | undefined {
  return text === undefined ? undefined : BigInt(text);
}
