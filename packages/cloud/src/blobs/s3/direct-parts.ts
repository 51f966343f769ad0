// A link to the bucket is good for one part of exactly these bytes: length and MD5 are signed with it. The first MD5 that
// is granted for a number is recorded before it is signed, and is the only one ever granted for it; so what the bucket
// lists under the number are these bytes, though they never came through here.

import { UploadPartCommand } from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { base64Of } from "@downlink/protocol";
import type { PartGrant, PartPlan } from "../blob-store.ts";
import { checkPart } from "../part-plan.ts";
import { refuseOther } from "../receive-part.ts";
import { placeOf } from "./bucket.ts";
import { requireUpload, type S3Uploads } from "./s3-upload.ts";

const GRANT_SECONDS = 15 * 60;

/** A target in the bucket itself for a part that is told by its MD5. */
export async function grantDirectPart(uploads: S3Uploads, key: string, part: PartPlan): Promise<PartGrant> {
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
