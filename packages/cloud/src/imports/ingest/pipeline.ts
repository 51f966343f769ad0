import { newIndexKey, removeIndex } from "../../background/indexing/index-key.ts";
import { ingestJob } from "../../background/jobs/ingest-job.ts";
import type { ImportRequestModel } from "../../db/generated/models.ts";
import { withTransaction } from "../../db/transaction.ts";
import { changeRequest } from "../../import-life/change-request.ts";
import { workingStates } from "../../import-life/import-request-state.ts";
import { isIndexingHeld } from "../../recovery/adoption-pass.ts";
import { LIVE_NS, LOOK_AGAIN_SECONDS, postpone, startHeartbeat } from "./attempt.ts";
import { describeImport } from "./describe-import.ts";
import { finishImport, TakenOverError } from "./finish-import.ts";
import type { IngestDeps } from "./ingest-deps.ts";
import { IngestError, toIngestError } from "./ingest-failure.ts";
import { quarantineImport, redeliver } from "./ingest-outcomes.ts";

/**
 * Brings one request to its end: reads the file, and files it. It may run twice, and may be killed anywhere: each attempt has a number, and
 * one whose job was taken over changes nothing. Permanent errors quarantine the file with their reason; any other failure is tried again
 * later.
 */
export async function ingest(deps: IngestDeps, requestId: string, signal: AbortSignal): Promise<void> {
  const request = await take(deps, requestId);
  if (!request) return; // it has ended, another attempt is at work, or it is queued for later
  const heart = startHeartbeat(deps, request.id, (nowNs) => showLife(deps, request, nowNs));
  try {
    const outcome = await processFile(deps, request, AbortSignal.any([signal, heart.stopped]));
    deps.metrics.imports.inc({ outcome });
    if (outcome === "complete") deps.metrics.importedBytes.inc(Number(request.sizeBytes));
  } catch (error) {
    if (error instanceof TakenOverError) return;
    if (signal.aborted) return await letGo(deps, request, error);
    const failure = toIngestError(error, request.attempts - request.attemptsBefore);
    const isOver = failure !== undefined && (await quarantineImport(deps, request, failure));
    deps.metrics.imports.inc({ outcome: isOver ? "failed" : "postponed" });
    if (!isOver)
      await postpone(deps, request, {
        error: error as Error,
        states: workingStates,
        job: ingestJob(request.sizeBytes),
      });
  } finally {
    heart.stop();
  }
}

/**
 * Gives the attempt a number, so that every later step of an earlier one is refused. A backlog may give a request several jobs: one that
 * finds another at work checks again later, because otherwise an import of hours would start over with each job. So does one that
 * comes before a restored database knows again what was imported.
 */
async function take(deps: IngestDeps, id: string): Promise<ImportRequestModel | undefined> {
  return withTransaction(deps.db, async (tx) => {
    const nowNs = deps.clock.nowNs();
    const seen = await tx.importRequest.findUnique({ where: { id } });
    if (!seen) return undefined;
    if (isAtWork(seen, nowNs) || (await isIndexingHeld(tx))) {
      const job = { orgId: seen.orgId, requestId: id };
      await deps.jobs.enqueue(tx, { name: ingestJob(seen.sizeBytes), data: job, delaySeconds: LOOK_AGAIN_SECONDS });
      return undefined;
    }
    await removeIndex({ tx, jobs: deps.jobs }, seen); // a dead attempt wrote it
    const indexKey = newIndexKey(seen.orgId);
    const data = {
      attempts: seen.attempts + 1,
      pipelineStage: "Reading the stored file",
      nextAttemptAtNs: null,
      indexKey,
    };
    return changeRequest({ tx, nowNs }, { id, event: "take", attempt: seen.attempts, data });
  });
}

function isAtWork({ state, nextAttemptAtNs, updatedAtNs }: ImportRequestModel, nowNs: bigint): boolean {
  const isTaken = state === "processing" || state === "ready for indexing";
  return isTaken && nextAttemptAtNs === null && updatedAtNs > nowNs - LIVE_NS;
}

/** Reads the stored bytes once, for their hash, for the verdict whether they can be imported, and for the index that exports use. */
async function processFile(
  deps: IngestDeps,
  request: ImportRequestModel,
  signal: AbortSignal,
): Promise<"complete" | "redelivered"> {
  const readAtNs = deps.clock.nowNs();
  await using reader = await deps.blobs.open(request.blobKey!);
  const { contentSha256, verdict } = await deps.indexer.index(reader, {
    fileName: request.filename,
    signal,
    store: async (pieces) => void (await deps.blobs.put(request.indexKey!, pieces, { signal })),
  });
  if (request.announcedSha256 !== null && request.announcedSha256 !== contentSha256) {
    await redeliver(deps, request);
    return "redelivered";
  }
  if ("refusal" in verdict) throw new IngestError(verdict.refusal.code, verdict.refusal.text);
  const { summary } = verdict;
  const nowNs = deps.clock.nowNs();
  await withTransaction(deps.db, async (tx) => {
    const data = { pipelineStage: "Filing" };
    const indexed = await changeRequest(
      { tx, nowNs },
      { id: request.id, event: "index", attempt: request.attempts, data },
    );
    if (!indexed) throw new TakenOverError(request.id);
  });
  const found = { request, summary, contentSha256, readAtNs, jobs: deps.jobs };
  const described = await describeImport(deps, { ...found, hasManifest: false, nowNs: deps.clock.nowNs() }, signal);
  await withTransaction(deps.db, (tx) => finishImport(tx, { ...found, ...described, nowNs: deps.clock.nowNs() }));
  return "complete";
}

/** This process stops: another one need not wait until the attempt looks dead. */
async function letGo(deps: IngestDeps, { id, attempts }: ImportRequestModel, error: unknown): Promise<never> {
  await deps.db.prisma.importRequest.updateMany({
    where: { id, attempts, state: { in: [...workingStates] } },
    data: { nextAttemptAtNs: deps.clock.nowNs() },
  });
  throw error;
}

/** Says whether this attempt still owns the request, and marks it as alive. */
async function showLife({ db }: IngestDeps, { id, attempts }: ImportRequestModel, nowNs: bigint): Promise<boolean> {
  const { count } = await db.prisma.importRequest.updateMany({
    where: { id, attempts, state: { in: [...workingStates] } },
    data: { updatedAtNs: nowNs },
  });
  return count > 0;
}
