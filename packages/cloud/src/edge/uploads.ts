import { type api, digestOf, edgeLimits, type Input, type Output } from "@downlink/protocol";
import { withLease } from "../agents/lease.ts";
import { BlobExistsError, PartConflictError } from "../blobs/blob-errors.ts";
import type { PartPlan, UploadPlan } from "../blobs/blob-store.ts";
import { minPieceBytes } from "../blobs/piece-plan.ts";
import type { AgentCtx } from "../context/context.ts";
import type { Complete } from "../core/complete.ts";
import { ApiError, notFound, refuse } from "../core/errors.ts";
import type { AgentModel, ImportRequestModel, UploadModel } from "../db/generated/models.ts";
import { newId } from "../db/ids.ts";
import type { Transaction } from "../db/transaction.ts";
import { failDelivery, storeDelivery } from "../import-life/delivery.ts";
import { statesBefore, workingStates } from "../import-life/import-request-state.ts";
import { lockRecording } from "../import-life/lock-recording.ts";
import { findOriginal, mayHaveOriginal } from "../ingest/find-original.ts";
import { contextOf } from "../jobs/transaction-context.ts";
import { requireRoom } from "../quotas/require-room.ts";
import { digestFields, digestFor, toPiece } from "./upload-digests.ts";

type Edge = typeof api.edge;
type OpenInput = Input<Edge["openUpload"]>;

/**
 * Opens the upload of a file version, or finds the one that is open already: the same version resumes, another never mixes in. Content that
 * the device's recordings have already ends the request instead.
 */
export async function openUpload(ctx: AgentCtx, input: OpenInput): Promise<Complete<Output<Edge["openUpload"]>>> {
  const nowNs = ctx.clock.nowNs();
  const { duplicate, upload, wantsSha256 } = await withLease(ctx, async (tx, agent) => {
    const request = await wantedRequest(tx, { agent, ...input });
    const text = await rejectDuplicate(tx, { request, input, nowNs });
    if (text !== undefined) return { duplicate: text };
    return {
      upload: (await currentUpload(tx, request, input)) ?? (await createUpload(tx, { request, input, nowNs })),
      wantsSha256: request.state === "awaiting" && input.sha256 === undefined && (await mayHaveOriginal(tx, request)),
    };
  });
  if (duplicate !== undefined) refuse("RequestSuperseded", duplicate); // the agent hears the whole reason with its work
  const answer = {
    uploadId: upload.id,
    partSize: Number(upload.partSizeBytes),
    wantsSha256: wantsSha256 || undefined,
  };
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

/** Before a byte is sent; once they are here, the import looks by itself. Answers the reason, where there was one. */
async function rejectDuplicate(tx: Transaction, { request, input, nowNs }: NewUpload): Promise<string | undefined> {
  const { sha256, size } = input;
  if (sha256 === undefined || request.state !== "awaiting") return undefined;
  const original = await findOriginal(tx, request, { sha256, size });
  if (!original) return undefined;
  const reason = { code: "DuplicateContent", text: original.text, duplicateOfId: original.id };
  await failDelivery({ tx, nowNs }, { request, reason });
  return original.text;
}

/** The parts became the object, and the answer or the row was lost: that is made good here. */
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
  for (const part of input.parts) checkPart(upload, part);
  const parts = input.parts.map((part) => ({ number: part.number, digest: digestOf(part), lengthBytes: part.length }));
  return await orAbandoned(ctx, upload, async () => ({
    grants: await ctx.blobs.grantParts(upload.blobKey, parts),
  }));
}

/** The upload that an agent may send bytes of at this moment. */
export async function wantedUpload(
  ctx: AgentCtx,
  { requestId, uploadId }: { requestId: string; uploadId: string },
): Promise<UploadModel> {
  return withLease(ctx, async (tx, agent) => openUploadOf(tx, await wantedRequest(tx, { agent, requestId }), uploadId));
}

/** Other bytes under a part's number can never be continued: then the upload ends, and another one is to be opened. */
export async function orAbandoned<T>(ctx: AgentCtx, upload: UploadModel, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof PartConflictError)) throw error;
    await abandon(ctx, upload);
    refuse("UploadClosed", `${error.message}; open a new upload`);
  }
}

function planOf({ sizeBytes, partSizeBytes }: UploadModel): UploadPlan {
  return { sizeBytes: Number(sizeBytes), partSizeBytes: Number(partSizeBytes) };
}

/** Repeatable: a lost answer is asked for again. The object is whole and durable before the row says so. */
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
    const durable = await ctx.blobs.listParts(upload.blobKey);
    await ctx.blobs.completeUpload(upload.blobKey, withEtags(durable, input.parts));
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
    return { recordingId: request.recordingId };
  });
}

/** The file's bytes changed under one version: what is stored of it can never be continued. */
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

/** The request while it may be delivered. Its recording is locked first, as everybody does who changes either. */
async function wantedRequest(tx: Transaction, { agent, requestId, versionId }: Wanted): Promise<DeliverableRequest> {
  const seen = await tx.importRequest.findFirst({ where: { id: requestId, agentId: agent.id } });
  if (!seen) notFound(`import request ${requestId}`);
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

/** From the next part on nothing is taken of a device that was disabled. */
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
  // A version keeps its content when its file is touched: the agent reads again what is durable before it goes on.
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

/** Bytes: 16 MiB or what an agent on a slow link asks for, more only where that would make too many parts. */
export function partSizeFor(sizeBytes: number, wantedBytes: number = edgeLimits.minPartBytes): number {
  return Math.max(wantedBytes, Math.ceil(sizeBytes / edgeLimits.maxParts));
}

async function openUploadOf(tx: Transaction, request: DeliverableRequest, uploadId: string): Promise<UploadModel> {
  const upload = await tx.upload.findFirst({ where: { id: uploadId, requestId: request.id } });
  if (!upload) notFound(`upload ${uploadId}`);
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
  if (!upload) notFound(`upload ${uploadId}`);
  const { request, ...row } = upload;
  if (request.recordingId === null)
    refuse("RequestSuperseded", `the recording of import request ${requestId} was deleted`);
  return { upload: row, recordingId: request.recordingId, deviceId: request.deviceId };
}

export function checkPart(upload: UploadModel, part: { number: number; length: number }): void {
  const sizeBytes = Number(upload.sizeBytes);
  const partSizeBytes = Number(upload.partSizeBytes);
  const offset = (part.number - 1) * partSizeBytes;
  const expected = Math.min(partSizeBytes, sizeBytes - offset);
  if (part.length !== expected)
    throw new ApiError(
      "InvalidRequest",
      `part ${part.number} must hold ${Math.max(0, expected)} bytes, not ${part.length}`,
    );
}

function withEtags(durable: readonly PartPlan[], said: Input<Edge["completeUpload"]>["parts"]) {
  const etags = new Map(said.map((part) => [part.number, part.etag]));
  return durable.map((part) => ({ ...part, etag: etags.get(part.number) }));
}
