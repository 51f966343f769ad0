import { type api, digestOf, type Input, type Output } from "@downlink/protocol";
import { contextOf } from "../../background/jobs/transaction-context.ts";
import type { AgentCtx } from "../../calls/context/context.ts";
import { requireRoom } from "../../calls/quotas/require-room.ts";
import type { Complete } from "../../core/complete.ts";
import { ApiError, refuse, throwNotFound } from "../../core/errors.ts";
import type { AgentModel, ImportRequestModel, UploadModel } from "../../db/generated/models.ts";
import { newId } from "../../db/ids.ts";
import type { Transaction } from "../../db/transaction.ts";
import { withLease } from "../../fleet/agents/lease.ts";
import { failDelivery, storeDelivery } from "../../import-life/delivery.ts";
import { statesBefore, workingStates } from "../../import-life/import-request-state.ts";
import { lockRecording } from "../../import-life/lock-recording.ts";
import { digestFields, toPiece } from "../../import-life/part-pieces.ts";
import { partSizeFor, planOf, requirePartLength } from "../../import-life/part-plans.ts";
import { findOriginal, mayHaveOriginal } from "../../imports/ingest/find-original.ts";
import { writeBegun } from "../../keeping/manifests/write-manifests.ts";
import { BlobExistsError, PartConflictError } from "../../store/blobs/blob-errors.ts";
import { minPieceBytes } from "../../store/blobs/piece-plan.ts";
import { PERMIT_NS } from "../deleting/permits.ts";
import { goesToSite, openSiteUpload } from "./site-uploads.ts";
import { digestFor } from "./upload-digests.ts";

type Edge = typeof api.edge;
type OpenInput = Input<Edge["openUpload"]>;

/**
 * Opens the upload of a file version, or finds the one that is already open: the same version resumes, and another version is never mixed
 * in. If a recording of the device has this content already, the request ends instead.
 */
export async function openUpload(ctx: AgentCtx, input: OpenInput): Promise<Complete<Output<Edge["openUpload"]>>> {
  const nowNs = ctx.clock.nowNs();
  const { atSite, duplicate, upload, wantsSha256 } = await withLease(ctx, async (tx, agent) => {
    const request = await wantedRequest(tx, { agent, ...input });
    if (await goesToSite(tx, request)) return { atSite: await openSiteUpload(tx, { ctx, request, input, nowNs }) };
    const text = await rejectDuplicate(tx, { ctx, request, input, nowNs });
    if (text !== undefined) return { duplicate: text };
    return {
      upload: (await currentUpload(tx, request, input)) ?? (await createUpload(tx, { request, input, nowNs })),
      wantsSha256: request.state === "awaiting" && input.sha256 === undefined && (await mayHaveOriginal(tx, request)),
    };
  });
  if (atSite instanceof ApiError) throw atSite;
  if (atSite) return atSite;
  if (duplicate !== undefined) refuse("RequestSuperseded", duplicate); // the agent gets the whole reason with its work
  const answer = {
    uploadId: upload.id,
    partSize: Number(upload.partSizeBytes),
    wantsSha256: wantsSha256 || undefined,
    site: undefined,
  };
  if (upload.state === "open") await writeBegun(ctx, upload.id);
  if (upload.state === "stored" || (await isWhole(ctx, upload)))
    return { ...answer, digest: undefined, isStored: true, parts: [], pieces: undefined };
  const parts = await ctx.blobs.listParts(upload.blobKey);
  const pieces = await ctx.blobs.listPieces(upload.blobKey);
  const digest = digestFor(input, [...parts, ...pieces], ctx.blobs.directDigest);
  if (digest === undefined) {
    await abandon(ctx, upload);
    return await openUpload(ctx, input);
  }
  return {
    ...answer,
    digest,
    isStored: false,
    parts: parts.map((part) => ({ number: part.number, length: part.lengthBytes, ...digestFields(part.digest) })),
    pieces: {
      minBytes: minPieceBytes(planOf(upload)),
      held: pieces.map((piece) => ({ number: piece.partNumber, ...toPiece(piece) })),
    },
  };
}

interface Checked extends NewUpload {
  readonly ctx: Pick<AgentCtx, "blobs">;
}

/**
 * Compares before a byte is sent; once all bytes are stored, the import compares by itself. Returns the reason of a rejection, if there was
 * one.
 */
async function rejectDuplicate(tx: Transaction, { ctx, request, input, nowNs }: Checked): Promise<string | undefined> {
  const { sha256, size } = input;
  if (sha256 === undefined || request.state !== "awaiting") return undefined;
  const original = await findOriginal(tx, request, { sha256, size });
  if (!original?.blobKey || !(await ctx.blobs.stat(original.blobKey))) return undefined; // no file is spared for data that is lost
  const reason = { code: "DuplicateContent", text: original.text, duplicateOfId: original.id };
  await failDelivery({ tx, nowNs }, { request, reason });
  return original.text;
}

/** The parts became the object, but the answer or the row was lost; this repairs it. */
async function isWhole(ctx: AgentCtx, upload: UploadModel): Promise<boolean> {
  try {
    await ctx.blobs.createUpload(upload.blobKey, planOf(upload));
    return false;
  } catch (error) {
    if (!(error instanceof BlobExistsError)) throw error;
  }
  await withLease(ctx, (tx) => storeDelivery(contextOf(tx, ctx), upload));
  return true;
}

export async function grantParts(
  ctx: AgentCtx,
  input: Input<Edge["grantParts"]>,
): Promise<Complete<Output<Edge["grantParts"]>>> {
  const upload = await wantedUpload(ctx, input);
  for (const part of input.parts) requirePartLength(upload, part);
  const parts = input.parts.map((part) => ({ number: part.number, digest: digestOf(part), lengthBytes: part.length }));
  return await abandonOnConflict(ctx, upload, async () => ({
    grants: await ctx.blobs.grantParts(upload.blobKey, parts),
  }));
}

/** Finds the upload to which an agent may send bytes at this moment. */
export async function wantedUpload(
  ctx: AgentCtx,
  { requestId, uploadId }: { requestId: string; uploadId: string },
): Promise<UploadModel> {
  return withLease(ctx, async (tx, agent) => openUploadOf(tx, await wantedRequest(tx, { agent, requestId }), uploadId));
}

/** Other bytes under a part's number mean that the upload can never be continued: it ends, and the agent has to open another one. */
export async function abandonOnConflict<T>(ctx: AgentCtx, upload: UploadModel, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof PartConflictError)) throw error;
    await abandon(ctx, upload);
    refuse("UploadClosed", `${error.message}; open a new upload`);
  }
}

/** The call may be repeated, because its answer may be lost. The object is whole and durable before the row says so. */
export async function completeUpload(
  ctx: AgentCtx,
  input: Input<Edge["completeUpload"]>,
): Promise<Complete<Output<Edge["completeUpload"]>>> {
  const { uploadId, sha256 } = input;
  const { upload, recordingId } = await withLease(ctx, async (tx, agent) => {
    const found = await findUpload(tx, { agent, ...input });
    if (found.upload.state !== "open") return found;
    await requireEnabled(tx, found.deviceId);
    const announced = await tx.upload.update({ where: { id: uploadId }, data: { announcedSha256: sha256 } });
    return { ...found, upload: announced };
  });
  if (upload.state === "stored") return { recordingId };
  if (upload.state !== "open") refuse("UploadClosed", `upload ${uploadId} is ${upload.state}; open a new one`);
  if (!(await ctx.blobs.stat(upload.blobKey))) {
    await ctx.blobs.completeUpload(upload.blobKey, await ctx.blobs.listParts(upload.blobKey));
  }
  await withLease(ctx, (tx) => storeDelivery(contextOf(tx, ctx), upload));
  return { recordingId };
}

export async function failImport(
  ctx: AgentCtx,
  input: Input<Edge["failImport"]>,
): Promise<Complete<Output<Edge["failImport"]>>> {
  return withLease(ctx, async (tx, agent) => {
    const request = await wantedRequest(tx, { agent, ...input });
    await failDelivery(contextOf(tx, ctx), { request, reason: { code: input.code, text: input.text } });
    if (input.code === "FileGone") await countAsGone(tx, { agentId: agent.id, ...input }, ctx.clock.nowNs());
    return { recordingId: request.recordingId };
  });
}

/** The agent reports the removal soon. Until then a new request for the file would only fail again. */
async function countAsGone(
  tx: Transaction,
  { agentId, versionId }: { agentId: string; versionId: string },
  nowNs: bigint,
): Promise<void> {
  await tx.edgeFile.updateMany({ where: { agentId, versionId }, data: { permitExpiresAtNs: nowNs + PERMIT_NS } });
}

/** The file's bytes changed under one version: the stored parts can never be continued. */
async function abandon(ctx: AgentCtx, { id }: UploadModel): Promise<void> {
  const data = { state: "abandoned", updatedAtNs: ctx.clock.nowNs() } as const;
  await withLease(ctx, (tx) => tx.upload.updateMany({ where: { id, state: "open" }, data }));
}

interface Wanted {
  readonly agent: AgentModel;
  readonly requestId: string;
  readonly versionId?: string;
}

type DeliverableRequest = ImportRequestModel & { recordingId: string; versionId: string };

/** Finds the request as long as it may be delivered. Its recording is locked first, as in every change of either. */
async function wantedRequest(tx: Transaction, { agent, requestId, versionId }: Wanted): Promise<DeliverableRequest> {
  const seen = await tx.importRequest.findFirst({ where: { id: requestId, agentId: agent.id } });
  if (!seen) throwNotFound(`import request ${requestId}`);
  if (seen.recordingId === null)
    refuse("RequestSuperseded", `the recording of import request ${requestId} was deleted`);
  await lockRecording(tx, seen.recordingId);
  await requireEnabled(tx, seen.deviceId);
  const request = (await tx.importRequest.findUniqueOrThrow({ where: { id: requestId } })) as DeliverableRequest;
  const isWanted = [...statesBefore("store"), ...workingStates].some((state) => state === request.state);
  if (!isWanted) refuse("RequestSuperseded", `import request ${requestId} is ${request.state}`);
  if (versionId !== undefined && versionId !== request.versionId)
    refuse("VersionSuperseded", `import request ${requestId} wants version ${request.versionId}`);
  return request;
}

/** From the next part on nothing is accepted from a device that was disabled. */
async function requireEnabled(tx: Transaction, deviceId: string | null): Promise<void> {
  const device = deviceId === null ? null : await tx.device.findUnique({ where: { id: deviceId } });
  if (device?.enabled === false)
    refuse("DeviceDisabled", `device "${device.name}" is disabled; an admin can enable it`);
}

async function currentUpload(
  tx: Transaction,
  request: DeliverableRequest,
  input: OpenInput,
): Promise<UploadModel | null> {
  const open = await tx.upload.findFirst({
    where: { requestId: request.id, state: { in: ["open", "stored"] } },
    orderBy: { createdAtNs: "desc" },
  });
  if (!open) return null;
  // A version keeps its content when its file is only touched: the agent reads the durable parts again before it goes on.
  const isSame = open.versionId === input.versionId && open.sizeBytes === BigInt(input.size);
  if (isSame || request.state !== "awaiting") return open;
  await tx.upload.update({ where: { id: open.id }, data: { state: "abandoned" } });
  return null;
}

interface NewUpload {
  readonly request: DeliverableRequest;
  readonly input: OpenInput;
  readonly nowNs: bigint;
}

async function createUpload(tx: Transaction, { request, input, nowNs }: NewUpload): Promise<UploadModel> {
  const id = newId("upl");
  await requireRoom(tx, request.orgId, BigInt(input.size));
  return tx.upload.create({
    data: {
      id,
      orgId: request.orgId,
      requestId: request.id,
      kind: "parts",
      versionId: input.versionId,
      sizeBytes: BigInt(input.size),
      modifiedAtNs: input.modifiedAt,
      partSizeBytes: BigInt(partSizeFor(input.size, input.partSize)),
      blobKey: `${request.orgId}/${id}`,
      state: "open",
      createdAtNs: nowNs,
      updatedAtNs: nowNs,
    },
  });
}

async function openUploadOf(tx: Transaction, request: DeliverableRequest, uploadId: string): Promise<UploadModel> {
  const upload = await tx.upload.findFirst({ where: { id: uploadId, requestId: request.id } });
  if (!upload) throwNotFound(`upload ${uploadId}`);
  return upload.state === "open"
    ? upload
    : refuse("UploadClosed", `upload ${uploadId} is ${upload.state}; open a new one`);
}

async function findUpload(
  tx: Transaction,
  { agent, requestId, uploadId }: { agent: AgentModel; requestId: string; uploadId: string },
) {
  const upload = await tx.upload.findFirst({
    where: { id: uploadId, requestId, request: { agentId: agent.id } },
    include: { request: { select: { recordingId: true, deviceId: true } } },
  });
  if (!upload) throwNotFound(`upload ${uploadId}`);
  const { request, ...row } = upload;
  if (request.recordingId === null)
    refuse("RequestSuperseded", `the recording of import request ${requestId} was deleted`);
  return { upload: row, recordingId: request.recordingId, deviceId: request.deviceId };
}
