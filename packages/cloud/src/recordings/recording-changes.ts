import type { ImportStatus, Requester } from "@downlink/protocol";
import type { Ctx } from "../context.ts";
import type { RecordingModel } from "../db/generated/models.ts";
import { type Transaction, withTransaction } from "../db/transaction.ts";
import { ApiError, notFound } from "../http/errors.ts";
import { cancelRequests } from "../ingest/change-request.ts";
import { primarySiteOf } from "../sites/primary-site.ts";
import { edgeCopyOf } from "./edge-copy.ts";
import { forgetData } from "./forget-data.ts";
import { importRequestRow, raisePriority } from "./import-request-rows.ts";
import { nextImportStatus, noFailure } from "./import-status.ts";
import { lockRecording } from "./lock-recording.ts";

interface Answer {
  readonly id: string;
  readonly importStatus: ImportStatus;
}

/** Queues the import of an edge recording; queued, running or done already, it changes at most the place in the queue. 404 when its edge copy is gone. */
export async function requestImport(ctx: Ctx, { id }: RecordingModel, priority: number): Promise<Answer> {
  const requestedBy = { kind: "apiKey", id: ctx.caller.keyId } as const;
  const answer = await withTransaction(ctx.db, async (tx) => {
    const recording = await lockRecording(tx, id);
    const edgeFile = edgeCopyOf(recording, ctx.clock.nowNs());
    const next = nextImportStatus(recording.importStatus as ImportStatus, "request", edgeFile !== null);
    if (next === "pending" && recording.importStatus === "pending")
      await raisePriority(tx, id, { priority, requestedBy });
    if (next === recording.importStatus || next === "removed")
      return { id, importStatus: recording.importStatus as ImportStatus, agentOf: agentOf(recording) };
    if (!edgeFile) notFound(`the edge copy of recording ${id}`);
    await cancelRequests(tx, { recordingId: id, jobs: ctx.jobs, nowNs: ctx.clock.nowNs() });
    const request = { recording, priority, requestedBy, nowNs: ctx.clock.nowNs() };
    await tx.importRequest.create({ data: await newRequest(tx, request) });
    await tx.recording.update({ where: { id }, data: { importStatus: next, ...noFailure } });
    return { id, importStatus: next, agentOf: agentOf(recording) };
  });
  if (answer.agentOf) await ctx.workSignals.announce(answer.agentOf);
  return { id: answer.id, importStatus: answer.importStatus };
}

/** Takes back a request that the edge has not delivered; once the bytes are here it is too late: 409. */
export async function cancelImport(ctx: Ctx, { id }: RecordingModel): Promise<Answer> {
  const recording = await withTransaction(ctx.db, async (tx) => {
    const locked = await lockRecording(tx, id);
    const next = nextImportStatus(locked.importStatus as ImportStatus, "cancel", true);
    if (next !== "none")
      throw new ApiError(
        "Conflict",
        `the import of recording ${id} is ${locked.importStatus}; only a pending one can be cancelled`,
      );
    await cancelRequests(tx, { recordingId: id, jobs: ctx.jobs, nowNs: ctx.clock.nowNs() });
    await tx.recording.update({ where: { id }, data: { importStatus: next } });
    return locked;
  });
  const owner = agentOf(recording);
  if (owner) await ctx.workSignals.announce(owner);
  return { id, importStatus: "none" };
}

/** Deletes the imported data; the recording stays while its edge copy is there. spec: States and transitions */
export async function deleteRecording(ctx: Ctx, { id }: RecordingModel): Promise<{ recordingId: string }> {
  const recording = await withTransaction(ctx.db, async (tx) => {
    const locked = await lockRecording(tx, id);
    await forgetData(tx, { recording: locked, jobs: ctx.jobs, nowNs: ctx.clock.nowNs() });
    return locked;
  });
  const owner = agentOf(recording);
  if (owner) await ctx.workSignals.announce(owner);
  return { recordingId: id };
}

/** Whose agent has the file: under this id it hears of work. */
function agentOf({ edgeSiteId, deviceId }: RecordingModel): string | null {
  return edgeSiteId ?? deviceId;
}

interface RequestOf {
  readonly recording: Awaited<ReturnType<typeof lockRecording>>;
  readonly priority: number;
  readonly requestedBy: Requester;
  readonly nowNs: bigint;
}

async function newRequest(tx: Transaction, { recording, ...request }: RequestOf) {
  const site = await primarySiteOf(tx, recording.orgId);
  const { device } = await tx.recording.findUniqueOrThrow({ where: { id: recording.id }, select: { device: true } });
  const edgeFile = recording.edgeFile!;
  return importRequestRow({ ...request, recording, edgeFile, siteId: site.id, deviceName: device?.name });
}
