import { join } from "node:path";
import type { Ceph } from "@downlink/cloud/testing/run-ceph";
import { type ControlPlane, startControlPlane } from "../../processes/control-plane.ts";
import { startProgram } from "../../processes/program.ts";

/** A bucket of its own, and the folder for everything else. */
export interface BucketUnderTest {
  readonly ceph: Ceph;
  readonly bucket: string;
  readonly folder: string;
}

interface Choices {
  /** The name is also the beginning of its objects' names. */
  readonly name: string;
  /** An endpoint instead of Ceph's own. */
  readonly endpoint?: string;
  readonly isDirect?: boolean;
}

/** Starts a control plane that keeps its objects in the bucket. */
export function startInBucket(
  { ceph, bucket, folder }: BucketUnderTest,
  { name, endpoint = ceph.endpoint, isDirect = false }: Choices,
): Promise<ControlPlane> {
  const env = {
    ...environmentOf(ceph, bucket),
    DOWNLINK_STORE: "s3",
    DOWNLINK_S3_ENDPOINT: endpoint,
    DOWNLINK_S3_PREFIX: `${name}/`,
    DOWNLINK_S3_FORCE_PATH_STYLE: "true",
    DOWNLINK_S3_DIRECT_PARTS: String(isDirect),
  };
  return startControlPlane({ dataDir: join(folder, name), env });
}

/** How long a transfer took, and how much of a processor. */
export interface Transfer {
  readonly seconds: number;
  readonly cpuSeconds: number;
}

/** Returns what the SDK alone takes, in a process of its own. */
export async function transferRaw(
  { ceph, bucket }: BucketUnderTest,
  ...args: ["put" | "get", string]
): Promise<Transfer> {
  const script = "cloud/src/store/bucket-uploads/testing/raw-transfer-child.ts";
  await using program = startProgram({ script, args, env: environmentOf(ceph, bucket) });
  const [seconds, cpuSeconds] = (await program.line(/^[\d.]+ [\d.]+$/)).split(" ").map(Number);
  return { seconds: seconds!, cpuSeconds: cpuSeconds! };
}

function environmentOf({ endpoint, owner }: Ceph, bucket: string): Record<string, string> {
  return {
    DOWNLINK_S3_BUCKET: bucket,
    DOWNLINK_S3_ENDPOINT: endpoint,
    AWS_ACCESS_KEY_ID: owner.accessKeyId,
    AWS_SECRET_ACCESS_KEY: owner.secretAccessKey,
  };
}
