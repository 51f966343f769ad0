import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Ceph } from "@downlink/cloud/testing/run-ceph";
import { type ControlPlane, startControlPlane } from "./control-plane.ts";
import { startProgram } from "./program.ts";

/** A control plane and a customer's bucket, which `curl` fills, and of which the control plane may only read. */
export interface Plant {
  readonly bucket: string;
  readonly env: Readonly<Record<string, string>>;
  start(): Promise<ControlPlane>;
  /** Starts a control plane that answers, and runs no jobs. */
  serve(): Promise<ControlPlane>;
  /** The arguments that name the bucket to `downlink admin site create-byob`. */
  readonly place: readonly string[];
  put(name: string, bytes: Uint8Array): Promise<void>;
  remove(name: string): Promise<void>;
  /** Runs `downlink` with these arguments. */
  run(...args: readonly string[]): Promise<{ exitCode: unknown; output: string }>;
  /** Runs `downlink admin site` with these arguments. */
  site: Plant["run"];
}

export async function openPlant(
  t: { after(close: () => Promise<void>): void },
  ceph: Ceph,
  more: Readonly<Record<string, string>> = {},
): Promise<Plant> {
  const folder = await mkdtemp(join(tmpdir(), "downlink-plant-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const { endpoint, owner, reader } = ceph;
  const bucket = await ceph.makeBucket();
  await ceph.letRead(bucket);
  const env = {
    DOWNLINK_DATA_DIR: folder,
    DOWNLINK_BUCKET_PLANT_7_ACCESS_KEY_ID: reader.accessKeyId,
    DOWNLINK_BUCKET_PLANT_7_SECRET_ACCESS_KEY: reader.secretAccessKey,
    ...more,
  } as const;
  const run: Plant["run"] = async (...args) => {
    const settings = { DOWNLINK_LOG_LEVEL: "error", DOWNLINK_PORT: "0", ...env };
    await using program = startProgram({ script: "cloud/src/main.ts", args, env: settings });
    return { exitCode: await program.ended, output: program.output() };
  };
  const curl = async (name: string, ...args: readonly string[]) => {
    const user = `${owner.accessKeyId}:${owner.secretAccessKey}`;
    const signing = ["--aws-sigv4", "aws:amz:us-east-1:s3", "--user", user];
    const unsigned = ["-H", "x-amz-content-sha256: UNSIGNED-PAYLOAD"];
    const url = `${endpoint}/${bucket}/${name.split("/").map(encodeURIComponent).join("/")}`;
    await promisify(execFile)("curl", ["-sSf", ...signing, ...unsigned, ...args, url]);
  };
  return {
    bucket,
    place: ["--provider", "s3_compatible", "--endpoint", endpoint, "--bucket", bucket, "--credentials", "plant-7"],
    env,
    start: () => startControlPlane({ dataDir: env.DOWNLINK_DATA_DIR, env }),
    serve: () => startControlPlane({ dataDir: env.DOWNLINK_DATA_DIR, env, mode: "serve" }),
    async put(name, bytes) {
      const file = join(folder, "object");
      await writeFile(file, bytes);
      await curl(name, "-T", file);
    },
    remove: (name) => curl(name, "-X", "DELETE"),
    run,
    site: (...args) => run("admin", "site", ...args),
  };
}
