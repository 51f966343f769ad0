import type { ImportStatus } from "@downlink/protocol";
import type { Ctx } from "../context.ts";
import type { RecordingModel } from "../db/generated/models.ts";
import { newId } from "../db/ids.ts";
import { type Transaction, withTransaction } from "../db/transaction.ts";
import { ApiError, notFound } from "../http/errors.ts";
import { cancelRequests } from "../ingest/change-request.ts";
import { primarySiteOf } from "../sites/primary-site.ts";
import { forgetData } from "./forget-data.ts";
import { nextImportStatus } from "./import-status.ts";
import { lockRecording } from "./lock-recording.ts";

interface Answer {
  readonly id: string;
  readonly importStatus: ImportStatus;
}

/** Queues the import of an edge recording; queued, running or done already, it changes nothing. 404 when its edge copy is gone. */
export async function requestImport(ctx: Ctx, { id }: RecordingModel, priority: number): Promise<Answer> {
  const answer = await withTransaction(ctx.db, async (tx) => {
    const recording = await lockRecording(tx, id);
    const next = nextImportStatus(recording.importStatus as ImportStatus, "request", recording.edgeFile !== null);
    if (next === recording.importStatus || next === "removed")
      return { id, importStatus: recording.importStatus as ImportStatus };
    if (!recording.edgeFile) notFound(`the edge copy of recording ${id}`);
    await cancelRequests(tx, { recordingId: id, jobs: ctx.jobs, nowNs: ctx.clock.nowNs() });
    await tx.importRequest.create({ data: await newRequest(tx, { recording, priority, nowNs: ctx.clock.nowNs() }) });
    await tx.recording.update({ where: { id }, data: { importStatus: next, failureCode: null, failureText: null } });
    return { id, importStatus: next, deviceId: recording.deviceId };
  });
  if ("deviceId" in answer && answer.deviceId) await ctx.workSignals.announce(answer.deviceId);
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
  if (recording.deviceId) await ctx.workSignals.announce(recording.deviceId);
  return { id, importStatus: "none" };
}

/** Deletes the imported data; the recording stays while its edge copy is there. spec: States and transitions */
export async function deleteRecording(ctx: Ctx, { id }: RecordingModel): Promise<{ recordingId: string }> {
  const recording = await withTransaction(ctx.db, async (tx) => {
    const locked = await lockRecording(tx, id);
    await forgetData(tx, { recording: locked, jobs: ctx.jobs, nowNs: ctx.clock.nowNs() });
    return locked;
  });
  if (recording.deviceId) await ctx.workSignals.announce(recording.deviceId);
  return { recordingId: id };
}

interface RequestOf {
  readonly recording: Awaited<ReturnType<typeof lockRecording>>;
  readonly priority: number;
  readonly nowNs: bigint;
}

async function newRequest(tx: Transaction, { recording, priority, nowNs }: RequestOf) {
  const site = await primarySiteOf(tx, recording.orgId);
  const { device } = await tx.recording.findUniqueOrThrow({ where: { id: recording.id }, select: { device: true } });
  return {
    id: newId("req"),
    orgId: recording.orgId,
    projectId: recording.projectId,
    siteId: site.id,
    source: "edge",
    state: "awaiting",
    pipelineStage: "Waiting for the device",
    recordingId: recording.id,
    deviceId: recording.deviceId,
    deviceName: device?.name,
    key: recording.key,
    filename: recording.path,
    versionId: recording.edgeFile!.versionId,
    agentId: recording.edgeFile!.agentId,
    priority,
    createdAtNs: nowNs,
    updatedAtNs: nowNs,
  };
}
