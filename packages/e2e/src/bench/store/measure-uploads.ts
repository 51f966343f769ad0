import { copyFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { api } from "@downlink/protocol";
import type { ControlPlane } from "../../processes/control-plane.ts";
import { makeAgent } from "../agent/agent-under-test.ts";
import { type BucketUnderTest, startInBucket, transferRaw } from "./bucket-under-test.ts";
import { type Compared, compare } from "./compared.ts";

/** Measures the agent, with hashing and parts, beside a multipart upload by the SDK alone of the same file with as many parts at once. */
export async function measureUploads(bucket: BucketUnderTest, path: string, runs: number): Promise<Compared[]> {
  const compared: Compared[] = [];
  for (const isDirect of [false, true]) {
    await using cloud = await startInBucket(bucket, { name: isDirect ? "direct" : "received", isDirect });
    const about = {
      name: isDirect ? "upload, parts straight to the bucket" : "upload, parts through the control plane",
      reference: "multipart by the SDK",
      target: { least: 0.8 },
    };
    const measured = () => uploadByAgent(cloud, path, bucket.folder);
    compared.push(
      await compare(runs, about, { measured, referred: async () => (await transferRaw(bucket, "put", path)).seconds }),
    );
  }
  return compared;
}

/** Returns the time from the request until every part is stored and joined. */
async function uploadByAgent(cloud: ControlPlane, path: string, parent: string): Promise<number> {
  await using agent = await makeAgent({ cloud, script: "agent/src/main.ts", parent, keepsCompiled: true });
  await mkdir(agent.root, { recursive: true });
  await copyFile(path, join(agent.root, "drive.mcap"));
  await using program = agent.start({ settings: { DOWNLINK_LOG_LEVEL: "info" } }); // at this level it logs when it has uploaded the file
  await agent.until(({ files }) => files.reported === 1);
  const [recording] = await cloud.admin.call(api.recordings.list, { deviceId: agent.deviceId });
  const startedMs = performance.now();
  await cloud.admin.call(api.recordings.requestImport, { keyOrId: recording!.id });
  await program.line(/"uploaded"/);
  return (performance.now() - startedMs) / 1000;
}
