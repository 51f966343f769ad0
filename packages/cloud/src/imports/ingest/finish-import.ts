import { removeIndex } from "../../background/indexing/index-key.ts";
import type { Prisma } from "../../db/generated/client.ts";
import type { Transaction } from "../../db/transaction.ts";
import { changeRequest } from "../../import-life/change-request.ts";
import { findLocked, lockRecording } from "../../import-life/lock-recording.ts";
import { type Decision, decideRecording } from "./decide-recording.ts";
import { type Finish, fileRecording } from "./file-recording.ts";
import { IngestError } from "./ingest-failure.ts";
import { joinSession } from "./join-session.ts";
import { type NamedTarget, nameTarget, resolveTarget, type Source } from "./resolve-target.ts";

const COMPLETE = "Complete";
/** Files mostly come several at a time, and the others are imported first. */
const PICTURES_AFTER_SECONDS = 10;

/** The last transaction of an import: the recording becomes streamable, or the file turns out to be a duplicate. */
export async function finishImport(tx: Transaction, finish: Finish): Promise<void> {
  const { request } = finish;
  if (request.source === "edge" && !(request.recordingId && (await findLocked(tx, request.recordingId))))
    throw new IngestError("RequestSuperseded", "the recording was deleted while its file was on its way");
  await takeTurnOf(tx, request.orgId);
  const { named, decision } = await decide(tx, finish);
  if (decision.kind === "reject") {
    const duplicateOfId = decision.code === "DuplicateContent" ? decision.duplicateOfId : undefined;
    throw new IngestError(decision.code, decision.text, duplicateOfId);
  }
  if (decision.kind === "existing") return endAsExisting(tx, finish, decision.recordingId);
  if (!finish.hasManifest) throw new Error(`the recording that ${request.id} repeated is gone`); // look again
  const recordingId = await fileRecording(tx, finish, await resolveTarget(tx, sourceOf(finish), named));
  const pictures = { name: "make-thumbnails", data: { orgId: request.orgId, recordingId } } as const;
  await finish.jobs.enqueue(tx, { ...pictures, delaySeconds: PICTURES_AFTER_SECONDS });
  await complete(tx, finish, { recordingId });
}

/** The files of an organization are decided on one at a time, because two may have the same key or content. */
export async function takeTurnOf(tx: Transaction, orgId: string): Promise<void> {
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${orgId}, 1))`;
}

/** Returns what the file would become at this moment. Creates nothing. */
export async function decide(tx: Transaction, finish: Finish): Promise<{ named: NamedTarget; decision: Decision }> {
  const named = await nameTarget(tx, sourceOf(finish));
  return { named, decision: await decideOn(tx, finish, named) };
}

function sourceOf(finish: Finish): Source {
  return { ...finish, identity: finish.summary.identity };
}

/** The facts that make a file the same as another. */
interface Content {
  readonly request: Pick<Finish["request"], "orgId" | "recordingId" | "source">;
  readonly contentSha256: string;
}

type Named = Pick<NamedTarget, "projectId" | "device" | "key">;

export async function decideOn(tx: Transaction, content: Content, named: Named): Promise<Decision> {
  const isEdge = content.request.source === "edge";
  const known = await findKnown(tx, content, named);
  return decideRecording({ isEdge, key: named.key, contentSha256: content.contentSha256, ...known });
}

/** Hashes are compared only within one organization and, for devices, one device. spec: wire contract §4 */
async function findKnown(tx: Transaction, { request, contentSha256 }: Content, { projectId, device, key }: Named) {
  const columns = { id: true, key: true, contentSha256: true, deviceId: true, path: true } as const;
  const of = { orgId: request.orgId, id: { not: request.recordingId ?? "" } };
  const find = async (where: Prisma.RecordingWhereInput) => {
    const orderBy: Prisma.RecordingOrderByWithRelationInput[] = [{ createdAtNs: "asc" }, { id: "asc" }];
    const imported: Prisma.RecordingWhereInput = { ...of, ...where, importStatus: "complete" };
    const found = await tx.recording.findFirst({ where: imported, orderBy, select: columns });
    // An upload may repair what is damaged in our own store. A file of a device is a recording of its own.
    if (found || request.recordingId !== null) return found;
    return tx.recording.findFirst({
      where: { ...of, ...where, storedDamage: { not: null }, blobKey: { not: null } },
      orderBy,
      select: columns,
    });
  };
  const sameKey = key && (await find({ projectId, key }));
  const sameContent = device && (await find({ deviceId: device.id, contentSha256 }));
  const toImported = ({ path, ...row }: NonNullable<typeof sameContent> & { deviceId: string | null }) => ({
    ...row,
    path: device !== undefined && row.deviceId === device.id ? path : undefined,
  });
  return {
    sameKey: sameKey ? toImported(sameKey) : undefined,
    sameContent: sameContent ? toImported(sameContent) : undefined,
  };
}

/** No recording is created, and the bytes are removed because they are stored already. */
async function endAsExisting(tx: Transaction, finish: Finish, recordingId: string): Promise<void> {
  const recording = await lockRecording(tx, recordingId);
  if (recording.importStatus !== "complete") throw new Error(`recording ${recordingId} was deleted at this moment`); // a retry looks again
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

/** From now on the request itself holds what is known of its recording. */
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
  const done = { blobKey: null, siteObjectKey: null, indexKey: null, pipelineStage: COMPLETE, nextAttemptAtNs: null };
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
