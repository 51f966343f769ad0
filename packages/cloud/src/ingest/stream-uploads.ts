// Upload links that nobody used within their day are cancelled, and a PUT that shows no sign of life for ten minutes
// is ended by the sweep; a slow one beats, because 32 kB/s is a valid network.

import type { Deps } from "../context/context.ts";
import type { ImportRequestModel, UploadModel } from "../db/generated/models.ts";
import { newId } from "../db/ids.ts";
import type { Transaction } from "../db/transaction.ts";
import { LINK_LIFE_NS } from "./upload-link.ts";

type StreamDeps = Pick<Deps, "db" | "blobs" | "clock" | "log">;

const BEAT_MS = 30_000;
const SILENT_NS = 600n * 1_000_000_000n; // twenty lost heartbeats

/** Every stream writes to a key of its own; the first that is whole wins the request. */
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

/** What the organization is to store counts from here on, where it is known. */
interface StreamOf extends Pick<ImportRequestModel, "id" | "orgId"> {
  readonly sizeBytes: bigint | null;
}

/** So many bytes of it have come. */
export async function noteReceived({ db }: StreamDeps, id: string, sizeBytes: bigint): Promise<void> {
  await db.prisma.upload.updateMany({ where: { id, state: "open" }, data: { sizeBytes } });
}

/** Shows that the body of an upload is still coming in, so that nobody ends it, however slow it is. Call the answer to stop. */
export function showThatStreamLives({ db, clock, log }: StreamDeps, id: string): () => void {
  const timer = setInterval(() => {
    db.prisma.upload
      .updateMany({ where: { id, state: "open" }, data: { updatedAtNs: clock.nowNs() } })
      .catch((error: Error) => log.warn({ err: error, uploadId: id }, "an upload's heartbeat was lost"));
  }, BEAT_MS);
  return () => clearInterval(timer);
}

/** The body broke off, or nobody wants it: nothing of it stays. What cannot be removed now is, by the sweep. */
export async function endStream({ db, blobs, log }: StreamDeps, { id, blobKey }: UploadModel): Promise<void> {
  try {
    await blobs.delete(blobKey);
    await db.prisma.upload.updateMany({ where: { id, state: "open" }, data: { state: "removed" } });
  } catch (error) {
    log.warn({ err: error, uploadId: id }, "a broken upload is left to the sweep");
  }
}

/**
 * Ends the uploads whose process died in the middle of the body; what they hold is removed with all that is abandoned. Ends the
 * requests whose link was never used as well.
 */
export async function sweepStreams({ db, clock, log }: StreamDeps): Promise<void> {
  const nowNs = clock.nowNs();
  const { count } = await db.prisma.upload.updateMany({
    where: { kind: "stream", state: "open", updatedAtNs: { lt: nowNs - SILENT_NS } },
    data: { state: "abandoned", updatedAtNs: nowNs },
  });
  if (count > 0) log.warn({ count }, "ended uploads that no process receives any more");
  await db.prisma.importRequest.updateMany({
    where: {
      source: "upload",
      state: "awaiting",
      createdAtNs: { lt: nowNs - LINK_LIFE_NS - SILENT_NS },
      uploads: { none: { state: "open" } },
    },
    data: { state: "cancelled", updatedAtNs: nowNs },
  });
}
