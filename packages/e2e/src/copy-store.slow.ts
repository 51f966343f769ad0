// All objects move from files into a bucket by the real programs, with two of them side by side while one is restarted with the new
// settings, and with the command killed on its way.

import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, type TestContext, test } from "node:test";
import { createTestDatabase } from "@downlink/cloud/testing";
import { runCeph, whyNoCeph } from "@downlink/cloud/testing/run-ceph";
import { api, type Recording } from "@downlink/protocol";
import { eventually } from "@downlink/recordings/testing";
import { request } from "undici";
import { type ControlPlane, startControlPlane } from "./processes/control-plane.ts";
import { startProgram } from "./processes/program.ts";
import { uploadAnother } from "./processes/upload-another.ts";

const skip = whyNoCeph();
const ceph = skip === undefined ? await runCeph() : undefined;
after(() => ceph?.[Symbol.asyncDispose]());
const KEPT = 8;
type Env = Readonly<Record<string, string>>;

const admin = (args: readonly string[], env: Env) =>
  startProgram({ script: "cloud/src/main.ts", args: ["admin", ...args], env: { DOWNLINK_LOG_LEVEL: "warn", ...env } });

async function run(args: readonly string[], env: Env): Promise<{ code: unknown; output: string }> {
  await using program = admin(args, env);
  return { code: await program.ended, output: program.output() };
}

const complete = async (cloud: ControlPlane) =>
  (await cloud.admin.call(api.recordings.list, { limit: 2000 })).filter((one) => one.importStatus === "complete");

async function uploadSome(cloud: ControlPlane, count: number): Promise<Recording[]> {
  for (let left = count; left > 0; left -= 1) await uploadAnother(cloud);
  return await eventually(
    () => complete(cloud),
    (all) => all.length >= count,
  );
}

async function exportOf({ admin: client }: ControlPlane, id: string): Promise<Buffer> {
  const { link } = await client.call(api.exports.create, { recordingId: id });
  const { statusCode, body } = await request(link);
  const bytes = Buffer.from(await body.arrayBuffer());
  assert.equal(statusCode, 200, bytes.toString());
  return bytes;
}

interface Load {
  /** These are exported again and again. */
  readonly exported: ReadonlyMap<string, Buffer>;
  /** These stay. Undefined: nothing is deleted. */
  readonly kept?: ReadonlyMap<string, Buffer>;
}

/** Makes imports, exports and deletions one after another, until it is stopped. */
function startLoad(cloud: ControlPlane, { exported, kept }: Load): { stop(): Promise<void> } {
  let isStopping = false;
  const working = (async () => {
    while (!isStopping) {
      await uploadAnother(cloud);
      for (const [id, bytes] of exported) assert.ok((await exportOf(cloud, id)).equals(bytes), id);
      const others = (await complete(cloud)).filter(({ id }) => kept && !kept.has(id));
      const [oldest] = others.sort((a, b) => Number(a.createdAt - b.createdAt)).slice(KEPT);
      if (oldest) await cloud.admin.call(api.recordings.delete, { keyOrId: oldest.id });
    }
  })();
  working.catch(() => {}); // `stop` tells it
  return {
    stop: async () => {
      isStopping = true;
      await working;
    },
  };
}

const CREDENTIALS: Env = ceph
  ? { AWS_ACCESS_KEY_ID: ceph.owner.accessKeyId, AWS_SECRET_ACCESS_KEY: ceph.owner.secretAccessKey }
  : {};

async function openPlaces(t: TestContext) {
  const dataDir = await mkdtemp(join(tmpdir(), "downlink-copy-"));
  t.after(() => rm(dataDir, { recursive: true, force: true }));
  const bucket = await ceph!.makeBucket();
  const common: Env = { DATABASE_URL: await createTestDatabase(t), DOWNLINK_DATA_DIR: dataDir, ...CREDENTIALS };
  const settings: Env = {
    DOWNLINK_STORE: "s3",
    DOWNLINK_S3_BUCKET: bucket,
    DOWNLINK_S3_PREFIX: "robots/",
    DOWNLINK_S3_ENDPOINT: ceph!.endpoint,
    DOWNLINK_S3_FORCE_PATH_STYLE: "true",
  };
  const to = ["--to", `s3://${bucket}/robots`, "--s3-endpoint", ceph!.endpoint, "--s3-path-style"];
  return { dataDir, common, moved: { ...common, ...settings }, copy: ["blobs", "copy", ...to] };
}

/** Gives the command until it exits with this code, because an upload may be open at any moment. */
async function copyUntil(code: number, args: readonly string[], env: Env): Promise<string> {
  const { output } = await eventually(
    () => run(args, env),
    (ended) => ended.code === code,
  );
  return output;
}

test("a deployment under load moves from files into a bucket, and the command may be killed", { skip }, async (t) => {
  const { dataDir, common, moved, copy } = await openPlaces(t);
  await using cloud = await startControlPlane({ dataDir, env: common });
  const known = new Map<string, Buffer>();
  for (const { id } of await uploadSome(cloud, 12)) known.set(id, await exportOf(cloud, id));
  const load = startLoad(cloud, { exported: new Map([...known].slice(0, 3)), kept: known });
  {
    await using program = admin(copy, common);
    await program.line(/^\d+ of \d+ objects/);
    await program.end("SIGKILL");
  }
  const elsewhere = await run(["blobs", "copy", "--to", "file:/nowhere"], common);
  assert.deepEqual(
    [elsewhere.code, /the objects move to s3:.* already/.test(elsewhere.output)],
    [2, true],
    elsewhere.output,
  );
  const printed = await copyUntil(3, copy, common);
  assert.match(printed, /waiting: 1 process\(es\) with the settings of another store on/);
  for (const [name, value] of Object.entries(moved))
    if (name.startsWith("DOWNLINK_S3_")) assert.ok(printed.includes(`  ${name}=${value}\n`), `${name}\n${printed}`);

  await using later = await startControlPlane({ dataDir, env: moved });
  const both = startLoad(later, { exported: new Map([...known].slice(3, 6)) });
  assert.match((await run(copy, moved)).output, /waiting: 1 process\(es\)/);
  await load.stop();
  await cloud.program.end("SIGTERM");
  assert.match(
    await copyUntil(0, copy, moved),
    /nothing uses file:.* any more\nfile:.* stays as it is; give the command again on/,
  );
  await both.stop();

  const { code, output } = await run(["check", "--read-data"], moved);
  assert.equal(code, 0, output);
  const late = await run(["sweep"], common);
  assert.match(late.output, /the objects were moved to s3:.*, and the settings name file:/);
  const emptied = await run(["blobs", "copy"], { ...moved, DOWNLINK_BACKUP_RETENTION: "0" });
  assert.equal(emptied.code, 0, emptied.output);
  assert.match(emptied.output, /file:.* is empty; the move is over/);
  for (const [id, bytes] of known) assert.ok((await exportOf(later, id)).equals(bytes), id);
});
