import type { ImportStatus } from "@downlink/protocol";
import type { RecordingSummary } from "@downlink/recordings";
import type { Prisma } from "../db/generated/client.ts";
import type { ImportRequestModel } from "../db/generated/models.ts";
import { newId } from "../db/ids.ts";
import type { Transaction } from "../db/transaction.ts";
import type { JobQueue } from "../jobs/queue.ts";
import { writeEvent } from "../outbox/outbox.ts";
import { nextImportStatus } from "../recordings/import-status.ts";
import { lockRecording } from "../recordings/lock-recording.ts";
import { changeRequest } from "./change-request.ts";
import { IngestFailure } from "./ingest-failure.ts";
import { resolveTarget, type Target } from "./resolve-target.ts";
import { attachmentRows, recordingFacts, storeSchemaTexts, topicRows } from "./summary-rows.ts";
import { whichRecording } from "./which-recording.ts";

export interface Finish {
  readonly request: ImportRequestModel;
  readonly summary: RecordingSummary & { startNs: bigint; endNs: bigint };
  /** Of the stored bytes, computed here. */
  readonly contentSha256: string;
  readonly jobs: JobQueue;
  readonly nowNs: bigint;
}

/** The last transaction of an import: the recording is streamable, or the file turns out to be one that is here already. */
export async function finishImport(tx: Transaction, finish: Finish): Promise<void> {
  const { request, contentSha256 } = finish;
  if (request.source === "edge" && request.recordingId === null)
    throw new IngestFailure("RequestSuperseded", "the recording was deleted while its file was on its way");
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${request.orgId}, 1))`; // same key or content: one at a time
  const target = await resolveTarget(tx, { ...finish, identity: finish.summary.identity });
  const known = await findKnown(tx, finish, target);
  const decision = whichRecording({ isEdge: request.source === "edge", key: target.key, contentSha256, ...known });
  if (decision.kind === "reject") throw new IngestFailure(decision.code, decision.text);
  if (decision.kind === "existing") return endAsExisting(tx, finish, decision.recordingId);
  await endAsImported(tx, finish, target);
}

async function findKnown(tx: Transaction, { request, contentSha256 }: Finish, { projectId, deviceId, key }: Target) {
  const columns = { id: true, key: true, contentSha256: true } as const;
  const imported = { orgId: request.orgId, importStatus: "complete", id: { not: request.recordingId ?? "" } };
  const sameKey = key && (await tx.recording.findFirst({ where: { ...imported, projectId, key }, select: columns }));
  const sameContent =
    deviceId &&
    (await tx.recording.findFirst({
      where: { ...imported, deviceId, contentSha256 },
      orderBy: { createdAtNs: "asc" },
      select: columns,
    }));
  return { sameKey: sameKey || undefined, sameContent: sameContent || undefined };
}

async function endAsExisting(tx: Transaction, { request, jobs, nowNs }: Finish, recordingId: string): Promise<void> {
  const { importId } = await tx.recording.findUniqueOrThrow({ where: { id: recordingId }, select: { importId: true } });
  if (request.blobKey) await jobs.enqueue(tx, "remove-object", { blobKey: request.blobKey });
  await complete(tx, request, { recordingId, importId, nowNs });
}

async function endAsImported(tx: Transaction, finish: Finish, target: Target): Promise<void> {
  const { request, summary, nowNs } = finish;
  const importId = newId("imp");
  const imported: Imported = {
    ...recordingFacts(summary),
    ...target,
    deviceId: target.deviceId ?? null,
    key: target.key ?? null,
    sessionId: target.sessionId ?? null,
    siteId: request.siteId,
    importStatus: "complete",
    importId,
    importedAtNs: nowNs,
    contentSha256: finish.contentSha256,
    blobKey: request.blobKey,
    failureCode: null,
    failureText: null,
  };
  const recordingId = request.recordingId
    ? await updateEdgeRecording(tx, request.recordingId, imported)
    : await createRecording(tx, finish, imported);
  await replaceContents(tx, finish, recordingId);
  await tx.project.update({ where: { id: target.projectId }, data: { lastSeenAtNs: nowNs } });
  await tellOf(tx, "recording.imported", finish, recordingId);
  await complete(tx, request, { recordingId, importId, nowNs });
}

type Imported = Omit<Prisma.RecordingUncheckedCreateInput, "id" | "orgId" | "path" | "createdAtNs" | "isEdge">;

async function updateEdgeRecording(tx: Transaction, id: string, imported: Imported): Promise<string> {
  const recording = await lockRecording(tx, id);
  const next = nextImportStatus(recording.importStatus as ImportStatus, "imported", recording.edgeFile !== null);
  if (next !== "complete") throw new IngestFailure("RequestSuperseded", `recording ${id} is ${recording.importStatus}`);
  await tx.recording.update({ where: { id }, data: imported });
  return id;
}

async function createRecording(tx: Transaction, finish: Finish, imported: Imported): Promise<string> {
  const { request, nowNs } = finish;
  const id = newId("rec");
  await tx.recording.create({
    data: { ...imported, id, orgId: request.orgId, path: request.filename, createdAtNs: nowNs, isEdge: false },
  });
  await tellOf(tx, "recording.created", finish, id);
  return id;
}

/** What the cloud read from the stored bytes replaces what the agent had said. */
async function replaceContents(tx: Transaction, { request, summary }: Finish, recordingId: string): Promise<void> {
  await tx.recordingTopic.deleteMany({ where: { recordingId } });
  await tx.recordingAttachment.deleteMany({ where: { recordingId } });
  await storeSchemaTexts(tx, request.orgId, summary.topics);
  await tx.recordingTopic.createMany({ data: topicRows(recordingId, summary.topics) });
  await tx.recordingAttachment.createMany({ data: attachmentRows(recordingId, summary.attachments) });
}

async function tellOf(
  tx: Transaction,
  type: "recording.created" | "recording.imported",
  { request, nowNs }: Finish,
  id: string,
) {
  const row = await tx.recording.findUniqueOrThrow({
    where: { id },
    select: {
      id: true,
      projectId: true,
      key: true,
      sessionId: true,
      importStatus: true,
      path: true,
      device: { select: { id: true, name: true } },
    },
  });
  const { projectId, ...recording } = row;
  await writeEvent(tx, { type, orgId: request.orgId, projectId, occurredAtNs: nowNs, payload: { recording } });
}

interface Completion {
  readonly recordingId: string;
  readonly importId: string | null;
  readonly nowNs: bigint;
}

async function complete(
  tx: Transaction,
  request: ImportRequestModel,
  { recordingId, importId, nowNs }: Completion,
): Promise<void> {
  const data = { recordingId, importId, blobKey: null, pipelineStage: "Complete", nextAttemptAtNs: null };
  const changed = await changeRequest(tx, { id: request.id, event: "finish", nowNs, attempt: request.attempts, data });
  if (!changed) throw new TakenOver(request.id);
}

/** Another attempt owns the request by now: this one leaves everything as it is. */
export class TakenOver extends Error {
  constructor(requestId: string) {
    super(`import request ${requestId} was taken over`);
    this.name = "TakenOver";
  }
}
