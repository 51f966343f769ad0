import { createHash } from "node:crypto";
import { z } from "zod";
import type { ObjectNotification } from "./object-notification.ts";

const S3Event = z.looseObject({
  eventSource: z.string().optional(),
  eventName: z.string(),
  eventTime: z.string().optional(),
  eventId: z.string().optional(),
  s3: z.looseObject({
    bucket: z.looseObject({ name: z.string() }),
    object: z.looseObject({ key: z.string() }),
  }),
});
type S3Event = z.infer<typeof S3Event>;

/** The events of a bucket of S3, Ceph or MinIO, which all have one form. */
export const S3Events = z.looseObject({ Records: z.array(S3Event) });
export type S3Events = z.infer<typeof S3Events>;

/** S3 sends this once, when its notifications are set up. */
export const S3TestEvent = z.looseObject({ Event: z.literal("s3:TestEvent") });

/** Returns what the events say of objects that came or went; other events, as those of tags, say nothing. */
export function readS3Events({ Records }: S3Events): ObjectNotification[] {
  return Records.filter(({ eventName }) => /^(s3:)?Object(Created|Removed|Restore):/.test(eventName)).flatMap((event) =>
    namesIn(event).map((fileName) => ({
      messageId: `s3 ${identify(event, fileName)}`,
      providers: ["aws", "s3_compatible"] as const,
      bucketName: event.s3.bucket.name,
      fileName,
    })),
  );
}

/** Only Ceph gives an event an id, so the event is known by all that it says of its object. */
function identify({ eventName, eventTime, eventId, s3 }: S3Event, fileName: string): string {
  const said = { eventName, eventTime, eventId, bucket: s3.bucket.name, fileName, ...s3.object };
  return createHash("sha256").update(JSON.stringify(said)).digest("hex");
}

/**
 * A key comes as in a form: encoded by percent signs, with a plus for each space. But some versions of Ceph send it as it is, so where the
 * two readings differ both names are looked at, and the bucket has one of them.
 */
function namesIn({ eventSource, s3: { object } }: S3Event): string[] {
  const decoded = decodeKey(object.key);
  const isEncoded = eventSource === "aws:s3" || eventSource === "minio:s3";
  return isEncoded || decoded === object.key ? [decoded] : [decoded, object.key];
}

function decodeKey(key: string): string {
  try {
    return decodeURIComponent(key.replaceAll("+", " "));
  } catch {
    return key;
  }
}
