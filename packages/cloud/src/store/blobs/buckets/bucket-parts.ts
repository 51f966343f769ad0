import { algorithmOf, base64Of } from "@downlink/protocol";
import { ApiError } from "../../../core/errors.ts";
import { UploadClosedError } from "../blob-errors.ts";
import type { PartPlan } from "../blob-store.ts";
import { fillVerified, type KeepBeginning } from "../fill-verified.ts";
import { bufferInMemory } from "../part-buffer.ts";
import type { LentBytes, PartMemory } from "../part-memory.ts";
import { checkPart } from "../part-plan.ts";
import { refuseOther } from "../receive-part.ts";
import { type BucketUploads, requireUpload } from "./bucket-uploads.ts";
import type { OpenUpload } from "./upload-records.ts";

const RETRY_SECONDS = 2;

/** An upload store whose parts come through this process. */
export interface ReceivingUploads extends BucketUploads {
  readonly memory: PartMemory;
}

/** Implements BlobStore.receivePart: the bytes are verified in memory before the bucket gets any of them. */
export async function receivePart(
  uploads: ReceivingUploads,
  key: string,
  { part, body, keep }: { part: PartPlan; body: AsyncIterable<Uint8Array>; keep: KeepBeginning },
): Promise<void> {
  const { records, memory } = uploads;
  const upload = await requireUpload(records, key);
  checkPart(upload.plan, part);
  refuseOther(part, await records.findTaken(upload, part.number));
  using lent = takeMemory(memory, part.lengthBytes);
  const announced = { ...part, partNumber: part.number, name: `part ${part.number}`, keep };
  await fillVerified(bufferInMemory(lent), announced, body);
  await storePart(uploads, { upload, part, bytes: lent.bytes });
}

/** If there is no memory, the sender comes again. */
export function takeMemory(memory: PartMemory, lengthBytes: number): LentBytes {
  const lent = memory.take(lengthBytes);
  if (lent) return lent;
  const more = { retryAfterSeconds: RETRY_SECONDS };
  throw new ApiError("Unavailable", "too many parts are being received; send this one again", more);
}

/** Sends verified bytes to the bucket, after it is recorded that their number stands for them. */
export async function storePart(
  { bucket, records }: BucketUploads,
  { upload, part, bytes }: { upload: OpenUpload; part: PartPlan; bytes: Uint8Array },
): Promise<void> {
  refuseOther(part, await records.take(upload, part));
  const has = await bucket.parts.has(upload, part.number);
  if (has) return;
  if (has === undefined) await forget({ bucket, records }, upload);
  const md5 = algorithmOf(part.digest) === "md5" ? { md5: base64Of(part.digest) } : {};
  try {
    await bucket.parts.send(upload, { number: part.number, bytes, ...md5 });
  } catch (error) {
    if (error instanceof UploadClosedError) await forget({ bucket, records }, upload);
    throw error;
  }
}

/** The bucket has given the upload up, or it was completed. */
async function forget({ records }: BucketUploads, { key, uploadId }: OpenUpload): Promise<never> {
  await records.close(key, uploadId);
  throw new UploadClosedError(key);
}
