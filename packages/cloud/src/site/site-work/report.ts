import type { api, Input, Output, SiteRequestState } from "@downlink/protocol";
import { contextOf, type TransactionContext } from "../../background/jobs/transaction-context.ts";
import type { SiteCtx } from "../../calls/context/context.ts";
import type { Complete } from "../../core/complete.ts";
import { invalid } from "../../core/errors.ts";
import type { ImportRequestModel } from "../../db/generated/models.ts";
import type { Transaction } from "../../db/transaction.ts";
import { changeRequest, requestRedelivery } from "../../import-life/change-request.ts";
import { moveRecording } from "../../import-life/delivery.ts";
import { findLocked } from "../../import-life/lock-recording.ts";
import { IngestError } from "../../imports/ingest/ingest-failure.ts";
import { quarantineImport } from "../../imports/ingest/ingest-outcomes.ts";
import { noteConfirmations } from "./confirmations.ts";
import { noteLakes } from "./lake-reports.ts";
import { isRedelivered } from "./redelivery.ts";
import { notePresent } from "./relisting.ts";
import { restoreForgotten } from "./restore-forgotten.ts";
import { failSalvage } from "./salvages.ts";
import { withSiteLease } from "./site-lease.ts";
import { toState } from "./site-rows.ts";

type Report = (typeof api.site)["report"];
type Body = Input<Report>;
type Stored = Body["stored"][number];

/** Takes what happened at the site. Each item is harmless when it is repeated, and is answered with the state of its request. */
export async function report(ctx: SiteCtx, body: Body): Promise<Complete<Output<Report>>> {
  const states = new Map<string, SiteRequestState>();
  const found = await withSiteLease(ctx, async (tx) => {
    await noteSavedKeys(tx, ctx, body.savedKeyIds);
    await forgetRemoved(tx, ctx, body.removed);
    await noteConfirmations(tx, ctx, body);
    for (const stored of body.stored) states.set(stored.requestId, await receive(tx, ctx, stored));
    for (const begun of body.begun) states.set(begun.requestId, toState(await takeAttempt(tx, ctx, begun)));
    return { strangeKeys: await notePresent(tx, ctx, body), unneededLakes: await noteLakes(tx, ctx, body) };
  });
  for (const failed of body.failed) await failSalvage(ctx, failed);
  for (const failed of body.failed) states.set(failed.requestId, await fail(ctx, failed));
  const requests = [...states].map(([requestId, state]) => ({ requestId, state }));
  return { serverTime: ctx.clock.nowNs(), requests, ...found };
}

async function noteSavedKeys(tx: Transaction, { caller, clock }: SiteCtx, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const where = { siteId: caller.siteId, id: { in: [...ids] }, savedAtNs: null };
  await tx.siteKey.updateMany({ where, data: { savedAtNs: clock.nowNs() } });
}

/** An object that a row names again stays known, and so does an upload for which an agent was let in again. */
async function forgetRemoved(tx: Transaction, { caller, clock }: SiteCtx, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return;
  const removed = { siteId: caller.siteId, key: { in: [...keys] } };
  await tx.siteObject.deleteMany({ where: { ...removed, unnamedSinceNs: { not: null } } });
  await tx.siteUpload.deleteMany({ where: { ...removed, capableUntilNs: { lte: clock.nowNs() } } });
}

/**
 * The site has the file of a request durably: the request becomes received. Another file for the same request is known from now on, too,
 * and is removed, because no row names it. `unknown`: the request was not given to this site.
 */
async function receive(tx: Transaction, ctx: SiteCtx, stored: Stored): Promise<SiteRequestState> {
  const { orgId, siteId } = ctx.caller;
  const { requestId, key, size } = stored;
  if (!key.startsWith(`${orgId}/`)) invalid("stored", `must be objects of organization ${orgId}`);
  const request = (await findGiven(tx, ctx, requestId)) ?? (await restoreForgotten(tx, ctx, stored));
  if (request === "unknown") return request;
  const nowNs = ctx.clock.nowNs();
  const { relistId: seenIn } = await tx.siteProcess.findUniqueOrThrow({ where: { siteId } });
  const object = { key, siteId, requestId, sizeBytes: BigInt(size), createdAtNs: nowNs, seenIn };
  const { count } = await tx.siteObject.createMany({ data: [object], skipDuplicates: true });
  if (request === "cancelled") return request;
  if (request.source === "edge") return receiveDelivery(tx, ctx, { request, stored, isNew: count === 1 });
  if (request.state !== "awaiting") return toState(request);
  return toState(await store(tx, ctx, stored));
}

function store(tx: Transaction, { clock }: SiteCtx, { requestId, key, size, sha256 }: Stored) {
  const data = { siteObjectKey: key, sizeBytes: BigInt(size), pipelineStage: "Waiting to be processed at its site" };
  const change = { id: requestId, event: "store", data: { ...data, announcedSha256: sha256 ?? null } } as const;
  return changeRequest({ tx, nowNs: clock.nowNs() }, change);
}

interface Delivery {
  readonly request: ImportRequestModel;
  readonly stored: Stored;
  /** False for a repeat: what came of the file has been decided. */
  readonly isNew: boolean;
}

/** The recording is locked first, as in every change of it or its requests. */
async function receiveDelivery(tx: Transaction, ctx: SiteCtx, delivery: Delivery): Promise<SiteRequestState> {
  const { request, stored, isNew } = delivery;
  const { recordingId } = request;
  const recording = recordingId !== null && isNew && (await findLocked(tx, recordingId));
  if (!recording) return toState(request);
  const current = await findGiven(tx, ctx, request.id);
  const { key } = stored;
  // One that this database does not know was opened after the backup that it was restored from, and was acknowledged: it must not be lost.
  const isSuperseded = (await tx.siteUpload.findUnique({ where: { key } }))?.isSuperseded === true;
  const isWanted = current?.state === "awaiting" || (isGivenUp(current) && mayComeLate.has(recording.importStatus));
  if (!isWanted || isSuperseded) return toState(current);
  if (isGivenUp(current)) await reopen(contextOf(tx, ctx), recording.id, request.id);
  await tx.siteUpload.deleteMany({ where: { key } });
  await moveRecording(tx, recording.id, { event: "stored" });
  return toState(await store(tx, ctx, stored));
}

/** The statuses of a recording that was requested and has no bytes. */
const mayComeLate: ReadonlySet<string> = new Set(["failed", "pending"]);

/**
 * The request ended while its file was on its way: the device had sent it all, lost its copy, and said so before the site could report. The
 * file that was acknowledged is imported then, because there is no other copy.
 */
function isGivenUp(request: ImportRequestModel | null): boolean {
  return request?.state === "error" && request.siteObjectKey === null;
}

async function reopen(context: TransactionContext, recordingId: string, id: string): Promise<void> {
  await requestRedelivery(context, { id, data: { errorCode: null, errorText: null, quarantinedAtNs: null } });
  await moveRecording(context.tx, recordingId, { event: "request" });
}

interface Attempt {
  readonly requestId: string;
  readonly attempt: number;
}

/** Gives the attempt to the site, which may have it already. Returns the request as it is then; null if it is none of this site's. */
export async function takeAttempt(
  tx: Transaction,
  ctx: SiteCtx,
  { requestId, attempt }: Attempt,
): Promise<ImportRequestModel | null> {
  const request = await findGiven(tx, ctx, requestId);
  if (!request?.siteObjectKey || request.attempts !== attempt - 1) return request;
  const data = { attempts: attempt, pipelineStage: "Reading the stored file at its site", nextAttemptAtNs: null };
  await tx.siteFindingsPiece.deleteMany({ where: { requestId } }); // of an attempt that a killed process left
  const change = { id: requestId, event: "take", attempt: attempt - 1, data } as const;
  return (await changeRequest({ tx, nowNs: ctx.clock.nowNs() }, change)) ?? findGiven(tx, ctx, requestId);
}

async function fail(ctx: SiteCtx, { code, text, sha256, ...given }: Body["failed"][number]): Promise<SiteRequestState> {
  const request = await withSiteLease(ctx, (tx) => takeAttempt(tx, ctx, given));
  if (isOwned(request, given)) {
    const isOther = sha256 !== undefined && (await isRedelivered(ctx, request, sha256));
    if (!isOther) await quarantineImport(ctx, request, new IngestError(code, text));
  }
  return toState(await findGiven(ctx.db.prisma, ctx, given.requestId));
}

/** Says whether the attempt is the present one of a request that goes on. */
export function isOwned(request: ImportRequestModel | null, { attempt }: Attempt): request is ImportRequestModel {
  return request?.attempts === attempt && request.state === "processing";
}

export function findGiven(
  tx: Pick<Transaction, "importRequest">,
  { caller: { orgId, siteId } }: SiteCtx,
  id: string,
): Promise<ImportRequestModel | null> {
  return tx.importRequest.findFirst({ where: { id, orgId, siteId } });
}
