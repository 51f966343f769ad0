import { createHash } from "node:crypto";
import { inspectRecording, type RecordingSummary } from "@downlink/recordings";
import type { BlobReader } from "../blobs/blob-store.ts";
import type { Deps } from "../context.ts";
import type { ImportRequestModel } from "../db/generated/models.ts";
import { withTransaction } from "../db/transaction.ts";
import { changeRequest } from "./change-request.ts";
import { finishImport, TakenOver } from "./finish-import.ts";
import { IngestFailure } from "./ingest-failure.ts";
import { failImport, postpone, redeliver } from "./ingest-outcomes.ts";

const BEAT_MS = 15_000;

/** What processing needs of the whole. */
export type IngestDeps = Pick<Deps, "db" | "blobs" | "jobs" | "clock" | "log" | "workSignals">;

/**
 * Brings one request to its end: hash, index, file. Safe to run twice, and to be killed anywhere: each attempt has a number, and
 * one that was taken over changes nothing. Permanent faults quarantine with their reason; anything else is tried again later.
 */
export async function ingest(deps: IngestDeps, requestId: string, signal: AbortSignal): Promise<void> {
  const request = await take(deps, requestId);
  if (!request) return; // it ended, or somebody cancelled it
  const stopBeating = beat(deps, request);
  try {
    await processFile(deps, request, signal);
  } catch (error) {
    if (error instanceof TakenOver) return;
    if (signal.aborted) throw error;
    if (error instanceof IngestFailure) await failImport(deps, request, error);
    else await postpone(deps, request, error as Error);
  } finally {
    stopBeating();
  }
  if (request.deviceId) await deps.workSignals.announce(request.deviceId);
}

/** Numbers the attempt, so that every later step of an earlier one is refused. */
async function take(deps: IngestDeps, id: string): Promise<ImportRequestModel | undefined> {
  return withTransaction(deps.db, async (tx) => {
    const seen = await tx.importRequest.findUnique({ where: { id }, select: { attempts: true } });
    if (!seen) return undefined;
    const data = { attempts: seen.attempts + 1, pipelineStage: "Reading the stored file", nextAttemptAtNs: null };
    return changeRequest(tx, { id, event: "take", nowNs: deps.clock.nowNs(), attempt: seen.attempts, data });
  });
}

async function processFile(deps: IngestDeps, request: ImportRequestModel, signal: AbortSignal): Promise<void> {
  await using reader = await deps.blobs.open(request.blobKey!);
  const contentSha256 = await hashOf(reader, signal);
  if (request.announcedSha256 !== null && request.announcedSha256 !== contentSha256)
    return await redeliver(deps, request);
  await setStage(deps, request, "Reading the index");
  const summary = await inspect(reader, request, signal);
  const nowNs = deps.clock.nowNs();
  await withTransaction(deps.db, async (tx) => {
    const indexed = await changeRequest(tx, {
      id: request.id,
      event: "index",
      nowNs,
      attempt: request.attempts,
      data: { pipelineStage: "Filing" },
    });
    if (!indexed) throw new TakenOver(request.id);
  });
  await withTransaction(deps.db, (tx) =>
    finishImport(tx, { request, summary, contentSha256, jobs: deps.jobs, nowNs: deps.clock.nowNs() }),
  );
}

async function hashOf(reader: BlobReader, signal: AbortSignal): Promise<string> {
  const hash = createHash("sha256");
  for await (const piece of reader.stream(undefined, signal)) hash.update(piece);
  return hash.digest("hex");
}

type TimedSummary = RecordingSummary & { startNs: bigint; endNs: bigint };

async function inspect(reader: BlobReader, request: ImportRequestModel, signal: AbortSignal): Promise<TimedSummary> {
  const inspection = await inspectRecording(reader, { fileName: request.filename, signal, verifyChunks: true });
  if (inspection.state === "empty")
    throw new IngestFailure(
      "EmptyRecording",
      "the file is valid but holds no message, so it has no time span and is no recording",
    );
  if (inspection.state !== "finished") throw new IngestFailure(inspection.reason.code, inspection.reason.text);
  return inspection.summary as TimedSummary; // a finished one has messages, and so a span
}

async function setStage(deps: IngestDeps, request: ImportRequestModel, pipelineStage: string): Promise<void> {
  const { count } = await deps.db.prisma.importRequest.updateMany({
    where: { id: request.id, attempts: request.attempts, state: "processing" },
    data: { pipelineStage, updatedAtNs: deps.clock.nowNs() },
  });
  if (count === 0) throw new TakenOver(request.id);
}

/** Shows that the attempt lives, so that nobody requeues it. */
function beat(deps: IngestDeps, request: ImportRequestModel): () => void {
  const timer = setInterval(() => {
    deps.db.prisma.importRequest
      .updateMany({ where: { id: request.id, attempts: request.attempts }, data: { updatedAtNs: deps.clock.nowNs() } })
      .catch((error: Error) => deps.log.warn({ err: error, requestId: request.id }, "an ingest heartbeat was lost"));
  }, BEAT_MS);
  return () => clearInterval(timer);
}
