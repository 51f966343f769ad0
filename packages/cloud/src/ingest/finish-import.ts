import type { Transaction } from "../db/transaction.ts";
import { changeRequest } from "../import-life/change-request.ts";
import { findLocked, lockRecording } from "../import-life/lock-recording.ts";
import { removeIndex } from "../indexing/index-key.ts";
import { type Finish, fileRecording } from "./file-recording.ts";
import { IngestError } from "./ingest-failure.ts";
import { joinSession } from "./join-session.ts";
import { type NamedTarget, nameTarget, resolveTarget } from "./resolve-target.ts";
import { whichRecording } from "./which-recording.ts";

const COMPLETE = "Complete";

/** The last transaction of an import: the recording is streamable, or the file turns out to be one that is here already. */
export async function finishImport(tx: Transaction, finish: Finish): Promise<void> {
  const { request, contentSha256 } = finish;
  const isEdge = request.source === "edge";
  if (isEdge && !(request.recordingId && (await findLocked(tx, request.recordingId))))
    throw new IngestError("RequestSuperseded", "the recording was deleted while its file was on its way");
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${request.orgId}, 1))`; // same key or content: one at a time
  const source = { ...finish, identity: finish.summary.identity };
  const named = await nameTarget(tx, source);
  const known = await findKnown(tx, finish, named);
  const decision = whichRecording({ isEdge, key: named.key, contentSha256, ...known });
  if (decision.kind === "reject") {
    const duplicateOfId = decision.code === "DuplicateContent" ? decision.duplicateOfId : undefined;
    throw new IngestError(decision.code, decision.text, duplicateOfId);
  }
  if (decision.kind === "existing") return endAsExisting(tx, finish, decision.recordingId);
  const recordingId = await fileRecording(tx, finish, await resolveTarget(tx, source, named));
  await complete(tx, finish, { recordingId });
}

/** Hashes are compared only within one organization and, for devices, one device. spec: wire contract §4 */
async function findKnown(tx: Transaction, { request, contentSha256 }: Finish, { projectId, device, key }: NamedTarget) {
  const columns = { id: true, key: true, contentSha256: true, deviceId: true, path: true } as const;
  const imported = { orgId: request.orgId, importStatus: "complete", id: { not: request.recordingId ?? "" } } as const;
  const sameKey = key && (await tx.recording.findFirst({ where: { ...imported, projectId, key }, select: columns }));
  const sameContent =
    device &&
    (await tx.recording.findFirst({
      where: { ...imported, deviceId: device.id, contentSha256 },
      orderBy: [{ createdAtNs: "asc" }, { id: "asc" }],
      select: columns,
    }));
  const tell = ({ path, ...row }: NonNullable<typeof sameContent> & { deviceId: string | null }) => ({
    ...row,
    path: device !== undefined && row.deviceId === device.id ? path : undefined,
  });
  return { sameKey: sameKey ? tell(sameKey) : undefined, sameContent: sameContent ? tell(sameContent) : undefined };
}

/** No recording is created, and the bytes go: they are stored already. */
async function endAsExisting(tx: Transaction, finish: Finish, recordingId: string): Promise<void> {
  const recording = await lockRecording(tx, recordingId);
  if (recording.importStatus !== "complete") throw new Error(`recording ${recordingId} was deleted at this moment`); // look again
  const { blobKey } = finish.request;
  if (blobKey) await finish.jobs.enqueue(tx, { name: "remove-object", data: { blobKey } });
  await removeIndex({ tx, jobs: finish.jobs }, finish.request);
  const obstacle = await joinSession(tx, { ...finish, recording });
  const pipelineStage = obstacle === undefined ? COMPLETE : `${COMPLETE}; ${obstacle}`;
  await complete(tx, finish, { recordingId, isExisting: true, pipelineStage });
}

interface Ended {
  readonly recordingId: string;
  readonly isExisting?: boolean;
  readonly pipelineStage?: string;
}

/** From now on the request says of itself what is known of its recording. */
async function complete(tx: Transaction, { request, nowNs }: Finish, ended: Ended): Promise<void> {
  const { device, ...known } = await tx.recording.findUniqueOrThrow({
    where: { id: ended.recordingId },
    select: {
      projectId: true,
      deviceId: true,
      device: { select: { name: true } },
      sessionId: true,
      key: true,
      importId: true,
    },
  });
  const deviceName = device?.name ?? null;
  const done = { blobKey: null, indexKey: null, pipelineStage: COMPLETE, nextAttemptAtNs: null };
  const data = { ...known, deviceName, ...done, ...ended };
  const changed = await changeRequest(
    { tx, nowNs },
    { id: request.id, event: "finish", attempt: request.attempts, data },
  );
  if (!changed) throw new TakenOverError(request.id);
}

/** Another attempt owns the request by now: this one leaves everything as it is. */
export class TakenOverError extends Error {
  constructor(requestId: string) {
    super(`import request ${requestId} was taken over`);
    this.name = "TakenOverError";
  }
}
