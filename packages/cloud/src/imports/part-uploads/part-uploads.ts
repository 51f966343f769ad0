// A person's file comes as an agent's does: in parts, each durable by itself, that become one object. The request says whose it is, and the
// row of the upload is there before the first byte, so that each byte has an owner; an upload that is not gone on with ends by itself.

import { type api, digestOf, edgeLimits, type Input, type Output, type PartUpload } from "@downlink/protocol";
import { contextOf } from "../../background/jobs/transaction-context.ts";
import type { Ctx } from "../../calls/context/context.ts";
import { requireRoom } from "../../calls/quotas/require-room.ts";
import type { Handlers } from "../../calls/serve/handlers.ts";
import type { Complete } from "../../core/complete.ts";
import { invalid, refuse, throwNotFound } from "../../core/errors.ts";
import type { UploadModel } from "../../db/generated/models.ts";
import { newId } from "../../db/ids.ts";
import { type Transaction, withTransaction } from "../../db/transaction.ts";
import { changeRequest } from "../../import-life/change-request.ts";
import { storeDelivery } from "../../import-life/delivery.ts";
import { digestFields, grantNextPieces, toPiece } from "../../import-life/part-pieces.ts";
import { partSizeFor, planOf, requirePartLength } from "../../import-life/part-plans.ts";
import { writeBegun } from "../../keeping/manifests/write-manifests.ts";
import { visibleTo } from "../../organization/projects/find-project.ts";
import { BlobExistsError } from "../../store/blobs/blob-errors.ts";
import { minPieceBytes } from "../../store/blobs/piece-plan.ts";
import { findUploadTarget, requestUpload } from "../ingest/uploads.ts";

type Contract = typeof api.partUploads;
type Body = Input<Contract["create"]>;
interface OfRequest {
  readonly requestId: string;
}

export const partUploads: Handlers<Contract> = {
  create: createUpload,
  get: getUpload,
  grantParts,
  grantPieces,
  composePart,
  complete: completeUpload,
  delete: deleteUpload,
};

async function createUpload(ctx: Ctx, body: Body): Promise<Complete<Output<Contract["create"]>>> {
  const target = await findUploadTarget(ctx, body);
  if (target.site.type === "self-hosted")
    invalid(
      "siteId",
      `must be of the service: site ${target.site.id} is self-hosted, and takes files by POST /v1/data/upload`,
    );
  const existingRecordingId = await findExisting(ctx, target.projectId, body);
  if (existingRecordingId !== undefined) return { upload: undefined, existingRecordingId };
  const { orgId } = ctx.caller;
  await requireRoom(ctx.db.prisma, orgId, BigInt(body.size)); // before anything is made
  const request = await requestUpload(ctx, body, target);
  const upload = await openUpload(ctx, { requestId: request.id, sizeBytes: body.size });
  return { upload: await showUpload(ctx, upload), existingRecordingId: undefined };
}

/** Spares the sender the file where its content is here. A file for a session is sent, and joins it once it is imported. */
async function findExisting(
  ctx: Ctx,
  projectId: string,
  { sha256, size, sessionId, sessionKey }: Body,
): Promise<string | undefined> {
  if (sha256 === undefined || (sessionId ?? sessionKey) !== undefined) return undefined;
  const content = { contentSha256: sha256, sizeBytes: BigInt(size) };
  const stored = { importStatus: "complete", isUnverified: false, storedDamage: null } as const;
  const where = { AND: [visibleTo(ctx), { projectId, ...content, ...stored }] };
  const found = await ctx.db.prisma.recording.findFirst({
    where,
    orderBy: { createdAtNs: "asc" },
    select: { id: true },
  });
  return found?.id;
}

async function openUpload(ctx: Ctx, { requestId, sizeBytes }: OfRequest & { sizeBytes: number }): Promise<UploadModel> {
  const [id, nowNs, { orgId }] = [newId("upl"), ctx.clock.nowNs(), ctx.caller];
  const partSizeBytes = partSizeFor(sizeBytes, edgeLimits.slowLinkPartBytes);
  const sizes = { sizeBytes: BigInt(sizeBytes), partSizeBytes: BigInt(partSizeBytes) };
  const times = { createdAtNs: nowNs, updatedAtNs: nowNs };
  const of = { id, orgId, requestId, kind: "parts", blobKey: `${orgId}/${id}`, state: "open" } as const;
  return ctx.db.prisma.upload.create({ data: { ...of, ...sizes, ...times } });
}

/** Finds the upload of a request that the caller sees. A request whose file is no longer wanted has none. */
async function findUpload(ctx: Ctx, { requestId }: OfRequest): Promise<UploadModel> {
  const request = { AND: [{ id: requestId, source: "upload" as const }, visibleTo(ctx)] };
  const upload = await ctx.db.prisma.upload.findFirst({
    where: { requestId, kind: "parts", request },
    orderBy: { createdAtNs: "desc" },
  });
  return upload ?? throwNotFound(`upload ${requestId}`);
}

async function getUpload(ctx: Ctx, input: OfRequest): Promise<Complete<PartUpload>> {
  const upload = await findUpload(ctx, input);
  requireNotEnded(upload);
  return showUpload(ctx, upload);
}

function requireNotEnded({ requestId, state }: UploadModel): void {
  if (state !== "open" && state !== "stored") throwNotFound(`upload ${requestId}, which has ended as ${state},`);
}

function requireOpen({ requestId, state }: UploadModel): void {
  if (state !== "open") refuse("UploadClosed", `the upload ${requestId} is ${state}; begin another one`);
}

async function showUpload(ctx: Ctx, upload: UploadModel): Promise<Complete<PartUpload>> {
  const { requestId, state, blobKey } = upload;
  const plan = planOf(upload);
  const shown = {
    requestId,
    size: plan.sizeBytes,
    partSize: plan.partSizeBytes,
    digest: ctx.blobs.directDigest ?? "sha256",
  } as const;
  const minBytes = minPieceBytes(plan);
  if (state === "stored" || (await isWhole(ctx, upload)))
    return { ...shown, isStored: true, parts: [], pieces: { minBytes, held: [] } };
  const parts = await ctx.blobs.listParts(blobKey);
  const pieces = await ctx.blobs.listPieces(blobKey);
  return {
    ...shown,
    isStored: false,
    parts: parts.map((part) => ({ number: part.number, length: part.lengthBytes, ...digestFields(part.digest) })),
    pieces: { minBytes, held: pieces.map((piece) => ({ number: piece.partNumber, ...toPiece(piece) })) },
  };
}

/**
 * Opens the upload in the store, once it is noted there whose it is; a repeat changes nothing. The parts may be the object already, and the
 * answer that said so lost.
 */
async function isWhole(ctx: Ctx, upload: UploadModel): Promise<boolean> {
  await writeBegun(ctx, upload.id);
  try {
    await ctx.blobs.createUpload(upload.blobKey, planOf(upload));
    return false;
  } catch (error) {
    if (!(error instanceof BlobExistsError)) throw error;
  }
  return true;
}

async function grantParts(
  ctx: Ctx,
  input: Input<Contract["grantParts"]>,
): Promise<Complete<Output<Contract["grantParts"]>>> {
  const upload = await findOpen(ctx, input);
  for (const part of input.parts) requirePartLength(upload, part);
  const parts = input.parts.map((part) => {
    return { number: part.number, digest: digestOf(part), lengthBytes: part.length, keepsBeginning: true };
  });
  return { grants: await ctx.blobs.grantParts(upload.blobKey, parts) };
}

/** Finds an upload to which bytes may be sent, and notes that it is gone on with. */
async function findOpen(ctx: Ctx, ofRequest: OfRequest): Promise<UploadModel> {
  const upload = await findUpload(ctx, ofRequest);
  requireOpen(upload);
  const data = { updatedAtNs: ctx.clock.nowNs() };
  await ctx.db.prisma.upload.updateMany({ where: { id: upload.id, state: "open" }, data });
  return upload;
}

async function grantPieces(
  ctx: Ctx,
  input: Input<Contract["grantPieces"]>,
): Promise<Complete<Output<Contract["grantPieces"]>>> {
  const { blobKey } = await findOpen(ctx, input);
  return grantNextPieces(ctx.blobs, blobKey, { ...input, keepsBeginning: true });
}

/** The call may be repeated, because its answer may be lost. */
async function composePart(
  ctx: Ctx,
  input: Input<Contract["composePart"]>,
): Promise<Complete<Output<Contract["composePart"]>>> {
  const { number, length } = input;
  const upload = await findOpen(ctx, input);
  requirePartLength(upload, { number, length });
  await ctx.blobs.composePart(upload.blobKey, { number, digest: digestOf(input), lengthBytes: length });
  return { number };
}

/** The object is whole and durable before its row says so; after a crash in between the reconciler repairs it. */
async function completeUpload(
  ctx: Ctx,
  { requestId, sha256 }: Input<Contract["complete"]>,
): Promise<Complete<Output<Contract["complete"]>>> {
  const found = await findUpload(ctx, { requestId });
  if (found.state === "stored") return { requestId };
  requireOpen(found);
  const upload = await ctx.db.prisma.upload.update({ where: { id: found.id }, data: { announcedSha256: sha256 } });
  if (!(await ctx.blobs.stat(upload.blobKey)))
    await ctx.blobs.completeUpload(upload.blobKey, await ctx.blobs.listParts(upload.blobKey));
  await withTransaction(ctx.db, (tx) => storeDelivery(contextOf(tx, ctx), upload));
  return { requestId };
}

/** It ended at this moment, by another call. */
async function refuseEnded(tx: Transaction, { id, requestId }: UploadModel): Promise<never> {
  requireNotEnded(await tx.upload.findUniqueOrThrow({ where: { id } }));
  refuse("Conflict", `the file of ${requestId} is here already, and is imported`);
}

/** It is too late once every byte is here: the import goes its way. */
async function deleteUpload(ctx: Ctx, input: Input<Contract["delete"]>): Promise<OfRequest> {
  const upload = await findUpload(ctx, input);
  requireNotEnded(upload);
  const { id, requestId } = upload;
  const nowNs = ctx.clock.nowNs();
  await withTransaction(ctx.db, async (tx) => {
    const data = { state: "abandoned", updatedAtNs: nowNs } as const;
    const { count } = await tx.upload.updateMany({ where: { id, state: "open" }, data });
    if (count === 0) await refuseEnded(tx, upload);
    const pipelineStage = "The upload was given up";
    await changeRequest({ tx, nowNs }, { id: requestId, event: "cancel", data: { pipelineStage } });
  });
  return { requestId };
}
