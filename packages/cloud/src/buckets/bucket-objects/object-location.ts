import type { RecordingLocation } from "@downlink/protocol";
import type { BucketObjectModel } from "../../db/generated/models.ts";
import type { Transaction } from "../../db/transaction.ts";
import { isOfCustomer } from "../../store/blobs/object-key.ts";

/** The `blobKey` of a recording or request whose bytes are an object of a customer's bucket. */
export function keyOfObject({ orgId, id }: Pick<BucketObjectModel, "orgId" | "id">): string {
  return `${orgId}/${id}`;
}

/** Returns where the bytes of a key lie, in the form of the recording's column; null if that is our own store. */
export async function findLocation(
  tx: Pick<Transaction, "bucketObject">,
  blobKey: string | null,
): Promise<string | null> {
  if (blobKey === null || !isOfCustomer(blobKey)) return null;
  const object = await tx.bucketObject.findUnique({
    where: { id: blobKey.slice(blobKey.indexOf("/") + 1) },
    select: { name: true, site: { select: { bucket: true } } },
  });
  const bucket = object?.site.bucket;
  if (!bucket) return null;
  const { azureStorageAccountName } = bucket;
  const location: RecordingLocation = {
    path: object.name,
    bucket: bucket.bucket,
    ...(azureStorageAccountName !== null && { azureStorageAccountName }),
  };
  return JSON.stringify(location);
}
