import { GetBucketLifecycleConfigurationCommand, type LifecycleRule } from "@aws-sdk/client-s3";
import { type BucketOptions, connectBucket } from "./bucket.ts";

/** Uploads of robots that are switched off meanwhile go on after weeks. */
const ADVISED_DAYS = 30;
const FEWEST_DAYS = 7;

/**
 * Returns what the operator should change in the bucket's rules for unfinished uploads, in a sentence; undefined where there is nothing to
 * advise, and where the bucket does not show its rules.
 */
export async function adviseLifecycle(options: BucketOptions): Promise<string | undefined> {
  using bucket = connectBucket({ ...options, attempts: 2 });
  const asked = new GetBucketLifecycleConfigurationCommand({ Bucket: bucket.name });
  let rules: readonly LifecycleRule[];
  try {
    rules = (await bucket.client.send(asked)).Rules ?? [];
  } catch (error) {
    if ((error as Error).name !== "NoSuchLifecycleConfiguration") return undefined;
    rules = [];
  }
  return adviceOn(rules, bucket.prefix);
}

function adviceOn(rules: readonly LifecycleRule[], prefix: string): string | undefined {
  const days = rules.flatMap((rule) => (isAbout(rule, prefix) ? (abortDaysOf(rule) ?? []) : []));
  if (days.length === 0)
    return `no lifecycle rule of the bucket aborts unfinished uploads: what a crash leaves may be paid for until the sweep finds it; let AbortIncompleteMultipartUpload abort them after ${ADVISED_DAYS} days or more`;
  const fewest = Math.min(...days);
  if (fewest >= FEWEST_DAYS) return undefined;
  return `a lifecycle rule of the bucket aborts unfinished uploads after ${fewest} days: an upload that takes longer, over a slow link or by a robot that is switched off, starts over; let it be ${ADVISED_DAYS} days or more`;
}

/** Whether a rule is for objects of ours. */
function isAbout({ Status, Prefix, Filter }: LifecycleRule, prefix: string): boolean {
  const own = Filter?.Prefix ?? Filter?.And?.Prefix ?? Prefix ?? "";
  return Status === "Enabled" && (prefix.startsWith(own) || own.startsWith(prefix));
}

function abortDaysOf({ AbortIncompleteMultipartUpload }: LifecycleRule): number | undefined {
  return AbortIncompleteMultipartUpload?.DaysAfterInitiation;
}
