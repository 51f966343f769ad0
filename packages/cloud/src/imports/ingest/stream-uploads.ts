// Requests of upload links that were not used within their day are cancelled, and the sweep ends a PUT that shows no sign of life for ten
// minutes; a slow PUT shows signs of life, because 32 kB/s is a valid network.

import { PART_UPLOAD_DAYS } from "@downlink/protocol";
import type { Deps } from "../../calls/context/context.ts";
import type { ImportRequestModel, UploadModel } from "../../db/generated/models.ts";
import { newId } from "../../db/ids.ts";
import { type Transaction, withTransaction } from "../../db/transaction.ts";
import { removeObject } from "../../keeping/manifests/remove-object.ts";
import { holdDeployment, mayGiveUp } from "../../recovery/held-deployment.ts";
import { LINK_LIFE_NS } from "./upload-link.ts";

type StreamDeps = Pick<Deps, "db" | "blobs" | "clock" | "log">;

const BEAT_MS = 30_000;
const DAY_NS = 86_400n * 1_000_000_000n;
const SILENT_NS = 600n * 1_000_000_000n; // twenty lost heartbeats

/** Every stream writes to a key of its own; the first whole one is the request's file. */
export async function openStream(
  tx: Transaction,
  { id: requestId, orgId, sizeBytes }: StreamOf,
  nowNs: bigint,
): Promise<UploadModel> {
  const id = newId("upl");
  const times = { createdAtNs: nowNs, updatedAtNs: nowNs };
  const blobKey = `${orgId}/${id}`;
  return tx.upload.create({
    data: { id, orgId, requestId, kind: "stream", sizeBytes, blobKey, state: "open", ...times },
  });
}

/** If the size is known, it counts from here on as stored by the organization. */
interface StreamOf extends Pick<ImportRequestModel, "id" | "orgId"> {
  readonly sizeBytes: bigint | null;
}

/** Stores how many bytes have arrived. */
export async function noteReceived({ db }: StreamDeps, id: string, sizeBytes: bigint): Promise<void> {
  await db.prisma.upload.updateMany({ where: { id, state: "open" }, data: { sizeBytes } });
}

/**
 * Shows that the body of an upload is still arriving, so that the sweep does not end it, however slow it is. Call the returned function to
 * stop.
 */
export function showThatStreamLives({ db, clock, log }: StreamDeps, id: string): () => void {
  const timer = setInterval(() => {
    db.prisma.upload
      .updateMany({ where: { id, state: "open" }, data: { updatedAtNs: clock.nowNs() } })
      .catch((error: Error) => log.warn({ err: error, uploadId: id }, "an upload's heartbeat was lost"));
  }, BEAT_MS);
  return () => clearInterval(timer);
}

/** Removes an upload whose body broke off or is not wanted any more: nothing of it stays. The sweep removes what cannot be removed now. */
export async function endStream({ db, blobs, log }: StreamDeps, { id, blobKey }: UploadModel): Promise<void> {
  try {
    await removeObject({ db, blobs }, blobKey);
    await db.prisma.upload.updateMany({ where: { id, state: "open" }, data: { state: "removed" } });
  } catch (error) {
    log.warn({ err: error, uploadId: id }, "a broken upload is left to the sweep");
  }
}

/**
 * Ends the uploads whose process died in the middle of the body; their bytes are removed with all that is abandoned. It also ends the
 * requests whose link was never used.
 */
export async function sweepStreams({ db, clock, log }: StreamDeps): Promise<void> {
  const nowNs = clock.nowNs();
  const { count } = await withTransaction(db, (tx) => endSilentStreams(tx, nowNs));
  if (count > 0) log.warn({ count }, "ended uploads that no process receives any more");
  await withTransaction(db, (tx) => endSilentParts(tx, nowNs));
  await withTransaction(db, (tx) => endUnusedLinks(tx, nowNs));
}

/** The client of an upload in parts comes back after a break, and by its request so many days later not any more. */
async function endSilentParts(tx: Transaction, nowNs: bigint): Promise<void> {
  const cutoffNs = nowNs - BigInt(PART_UPLOAD_DAYS) * DAY_NS;
  if (!mayGiveUp(await holdDeployment(tx), cutoffNs)) return;
  await tx.upload.updateMany({
    where: { kind: "parts", state: "open", updatedAtNs: { lt: cutoffNs }, request: { source: "upload" } },
    data: { state: "abandoned", updatedAtNs: nowNs },
  });
}

async function endSilentStreams(tx: Transaction, nowNs: bigint): Promise<{ count: number }> {
  const cutoffNs = nowNs - SILENT_NS;
  if (!mayGiveUp(await holdDeployment(tx), cutoffNs)) return { count: 0 };
  return tx.upload.updateMany({
    where: { kind: "stream", state: "open", updatedAtNs: { lt: cutoffNs } },
    data: { state: "abandoned", updatedAtNs: nowNs },
  });
}

/** A self-hosted site may have the file already, and be cut off: its requests wait. */
async function endUnusedLinks(tx: Transaction, nowNs: bigint): Promise<void> {
  const cutoffNs = nowNs - LINK_LIFE_NS - SILENT_NS;
  if (!mayGiveUp(await holdDeployment(tx), cutoffNs)) return;
  await tx.$executeRaw`
    UPDATE "ImportRequest" q SET state = 'cancelled', "updatedAtNs" = ${nowNs}
    WHERE q.source = 'upload' AND q.state = 'awaiting' AND q."createdAtNs" < ${cutoffNs}
      AND NOT EXISTS (SELECT FROM "Upload" u WHERE u."requestId" = q.id AND u.state = 'open')
      AND NOT EXISTS (SELECT FROM "Site" s WHERE s.id = q."siteId" AND s.type = 'self-hosted')`;
}
