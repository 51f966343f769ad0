import type { Logger } from "pino";
import { ConfigError } from "../../core/config-error.ts";
import type { Metrics } from "../../process/metrics/metrics.ts";
import { observeCalls } from "../../store/bucket-uploads/observe-calls.ts";
import { type BucketSettings, nameStore } from "../../store/bucket-uploads/store-address.ts";
import { openInboxBucket } from "./inbox-bucket.ts";
import { openInboxFolder } from "./inbox-folder.ts";
import type { InboxPlace } from "./inbox-place.ts";

interface Inboxes {
  readonly inboxDir?: string | undefined;
  readonly inboxBucket?: BucketSettings | undefined;
}

interface Opening {
  readonly log: Pick<Logger, "warn">;
  readonly metrics: Metrics | undefined;
}

/** Opens the inbox of a site, if it has one. Throws a {@link ConfigError} for a bucket that cannot have one. */
export async function openInboxPlace(
  opened: AsyncDisposableStack,
  { inboxDir, inboxBucket }: Inboxes,
  { log, metrics }: Opening,
): Promise<InboxPlace | undefined> {
  if (inboxDir !== undefined) return openInboxFolder(inboxDir, log);
  if (!inboxBucket) return undefined;
  const { connectInboxBucket } = await import("../../store/blobs/s3/inbox-bucket.ts");
  const counted = metrics && { onCall: observeCalls(metrics) };
  const connected = opened.use(connectInboxBucket({ ...inboxBucket, ...counted }));
  const fault = await connected.probe();
  const name = nameStore({ kind: "s3", ...inboxBucket });
  if (fault !== undefined) throw new ConfigError([`DOWNLINK_S3_INBOX_…: ${name} can be no inbox: ${fault}`]);
  return openInboxBucket(connected, inboxBucket.prefix, log);
}
