// A link to the bucket is good for one part of exactly these bytes: length and MD5 are signed with it. The first MD5 that
// is granted for a number is recorded before it is signed, and is the only one ever granted for it; so what the bucket
// lists under the number are these bytes, though they never came through here.

import { UploadPartCommand } from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { base64Of } from "@downlink/protocol";
import type { PartGrant, PartPlan } from "../blob-store.ts";
import { requireUpload } from "../buckets/bucket-uploads.ts";
import type { UploadRecords } from "../buckets/upload-records.ts";
import { checkPart } from "../part-plan.ts";
import { refuseOther } from "../receive-part.ts";
import { type Bucket, placeOf } from "./bucket.ts";

export const GRANT_SECONDS = 15 * 60;

/** A bucket to which senders may send, and what is recorded about uploads to it. */
export interface DirectUploads {
  readonly bucket: Bucket;
  readonly records: UploadRecords;
}

/** Grants a target in the bucket itself for a part. The link is bound to the part's MD5. */
export async function grantDirectPart(uploads: DirectUploads, key: string, part: PartPlan): Promise<PartGrant> {
  const { bucket, records } = uploads;
  const { number, digest, lengthBytes } = part;
  const upload = await requireUpload(records, key);
  checkPart(upload.plan, part);
  refuseOther(part, await records.take(upload, part));
  const md5 = base64Of(digest);
  const put = new UploadPartCommand({
    ...placeOf(bucket, key),
    UploadId: upload.uploadId,
    PartNumber: number,
    ContentMD5: md5,
    ContentLength: lengthBytes,
  });
  const url = await getSignedUrl(bucket.client, put, { expiresIn: GRANT_SECONDS });
  return { number, url, headers: { "content-md5": md5 } };
}
