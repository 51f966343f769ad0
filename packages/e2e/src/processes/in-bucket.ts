import type { Ceph } from "@downlink/cloud/testing/run-ceph";

/** Returns the settings with which a control plane keeps its objects in a bucket of that Ceph. */
export function inBucket({ endpoint, owner }: Ceph, bucket: string): Record<string, string> {
  return {
    DOWNLINK_STORE: "s3",
    DOWNLINK_S3_BUCKET: bucket,
    DOWNLINK_S3_ENDPOINT: endpoint,
    DOWNLINK_S3_PREFIX: "downlink/",
    DOWNLINK_S3_FORCE_PATH_STYLE: "true",
    AWS_ACCESS_KEY_ID: owner.accessKeyId,
    AWS_SECRET_ACCESS_KEY: owner.secretAccessKey,
  };
}
