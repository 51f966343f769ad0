import type { Metrics } from "../../process/metrics/metrics.ts";
import type { BucketCall } from "../blobs/buckets/bucket-call.ts";

/** Counts what the bucket was asked for, and how long it took to answer. */
export function observeCalls({ bucketCallSeconds }: Metrics): (call: BucketCall) => void {
  return ({ verb, outcome, seconds }) => bucketCallSeconds.observe({ verb, outcome }, seconds);
}
