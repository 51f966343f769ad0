import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { api, type Recording } from "@downlink/protocol";
import { eventually } from "@downlink/recordings/testing";
import { request } from "undici";
import { type ControlPlane, startControlPlane } from "../processes/control-plane.ts";
import { startProgram } from "../processes/program.ts";
import { uploadAnother } from "../processes/upload-another.ts";

export type Env = Readonly<Record<string, string>>;

export async function makeFolder(t: Pick<TestContext, "after">): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "downlink-backup-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

export const admin = (args: readonly string[], env: Env) =>
  startProgram({ script: "cloud/src/main.ts", args: ["admin", ...args], env: { DOWNLINK_LOG_LEVEL: "warn", ...env } });

/** Runs a command to its end. */
export async function run(args: readonly string[], env: Env): Promise<{ code: unknown; output: string }> {
  await using program = admin(args, env);
  return { code: await program.ended, output: program.output() };
}

export async function succeed(args: readonly string[], env: Env): Promise<string> {
  const { code, output } = await run(args, env);
  assert.equal(code, 0, `${args.join(" ")}:\n${output}`);
  return output;
}

export const complete = async (cloud: ControlPlane) =>
  (await cloud.admin.call(api.recordings.list, { limit: 2000 })).filter((one) => one.importStatus === "complete");

export async function uploadSome(cloud: ControlPlane, count: number): Promise<Recording[]> {
  const before = (await complete(cloud)).length;
  for (let left = count; left > 0; left -= 1) await uploadAnother(cloud);
  return await eventually(
    () => complete(cloud),
    (all) => all.length >= before + count,
  );
}

/** Makes imports and deletions one after another, until it is stopped. */
export function startLoad(cloud: ControlPlane): { stop(): Promise<void> } {
  let isStopping = false;
  const working = (async () => {
    while (!isStopping) {
      await uploadAnother(cloud);
      const [oldest] = (await complete(cloud)).sort((a, b) => Number(a.createdAt - b.createdAt)).slice(8);
      if (oldest) await cloud.admin.call(api.recordings.delete, { keyOrId: oldest.id });
    }
  })();
  return {
    stop: async () => {
      isStopping = true;
      await working;
    },
  };
}

export async function exportOf({ admin: client }: ControlPlane, { id }: Recording): Promise<Buffer> {
  const { link } = await client.call(api.exports.create, { recordingId: id });
  const { statusCode, body } = await request(link);
  const bytes = Buffer.from(await body.arrayBuffer());
  assert.equal(statusCode, 200, bytes.toString());
  return bytes;
}

/** Starts the restored control plane, waits until it has recovered, and checks that it has these recordings, byte for byte. */
export async function assertRestored(env: Env, dataDir: string, recordings: Map<string, Buffer>): Promise<void> {
  await using cloud = await startControlPlane({ dataDir, env });
  const askState = async () => (await (await request(`${cloud.url}/readyz`)).body.json()) as { status: string };
  await eventually(askState, ({ status }) => status === "ready");
  const found = await complete(cloud);
  for (const [id, bytes] of recordings) {
    const one = found.find((recording) => recording.id === id);
    assert.ok(one, `${id} is not there`);
    assert.ok((await exportOf(cloud, one)).equals(bytes), id);
  }
  const checked = await succeed(["check", "--read-data"], { DOWNLINK_DATA_DIR: dataDir, ...env });
  assert.match(checked, /the database and the object store agree/);
}

export const readExports = async (cloud: ControlPlane, recordings: readonly Recording[]) =>
  new Map(await Promise.all(recordings.map(async (one) => [one.id, await exportOf(cloud, one)] as const)));

export async function flipByte(path: string): Promise<void> {
  const bytes = await readFile(path);
  bytes[Math.floor(bytes.length / 2)]! ^= 1;
  await writeFile(path, bytes);
}
