// Backups, restores, checks and moves of a deployment whose recordings lie in a customer's bucket: nothing looks for those objects in our own
// store, or copies them, and the listing finds again what was imported since the backup.

import assert from "node:assert/strict";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, type TestContext, test } from "node:test";
import { copyDatabase, createTestDatabase, dropDatabase, restoreDatabase } from "@downlink/cloud/testing";
import { runCeph, whyNoCeph } from "@downlink/cloud/testing/run-ceph";
import { api, type Recording } from "@downlink/protocol";
import { eventually, makeMcap } from "@downlink/recordings/testing";
import type { ControlPlane } from "../processes/control-plane.ts";
import { openPlant, type Plant } from "../processes/plant.ts";
import { uploadAnother } from "../processes/upload-another.ts";
import { whyNotInCi } from "../replicas/why-not-in-ci.ts";

const skip = whyNoCeph() ?? whyNotInCi();
const started = skip === undefined ? await runCeph() : undefined;
after(() => started?.[Symbol.asyncDispose]());
const ceph = () => started!;
/** The marks are compared once a minute. */
const PATIENCE_MS = 150_000;
let minute = 0n;

async function put(plant: Plant, ...names: readonly string[]): Promise<void> {
  for (const name of names) {
    minute += 60n;
    const startNs = (1_750_000_000n + minute) * 1_000_000_000n;
    const attachments = [{ name: "notes.txt", data: Buffer.from(name) }];
    await plant.put(name, await makeMcap({ startNs, durationSeconds: 1, attachments }));
  }
}

async function succeed(run: Plant["run"], ...args: readonly string[]): Promise<string> {
  const { exitCode, output } = await run(...args);
  assert.equal(exitCode, 0, `${args.join(" ")}:\n${output}`);
  return output;
}

/** Lists the bucket, and waits until its recordings are in these states, by their paths. */
async function scanUntil({ admin }: ControlPlane, plant: Plant, states: Readonly<Record<string, string>>) {
  await eventually(
    () => plant.site("scan", "plant"),
    ({ exitCode, output }) => exitCode === 0 || !/the deployment recovers/.test(output),
    PATIENCE_MS,
  );
  const stateOf = ({ importStatus, failure }: Recording) => failure?.code ?? importStatus;
  const read = async () => {
    const all = (await admin.call(api.recordings.list, { sortBy: "path" })).filter(({ location }) => location);
    return { all, states: Object.fromEntries(all.map((one) => [one.path, stateOf(one)])) };
  };
  const wanted = JSON.stringify(states);
  const { all } = await eventually(read, (found) => JSON.stringify(found.states) === wanted);
  return new Map(all.map(({ path, id }) => [path, id]));
}

async function untilReady({ url }: ControlPlane): Promise<void> {
  const ask = async () => ((await (await fetch(`${url}/readyz`)).json()) as { status: string }).status;
  await eventually(ask, (status) => status === "ready");
}

const checked = (count: number) =>
  new RegExp(`the database and the object store agree\\n${count} recordings lie in customers' buckets`);

async function makeFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "downlink-restored-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

test("a backup has nothing of a customer's bucket, and after its restore the listing brings back what came since", {
  skip,
}, async (t) => {
  const folder = await makeFolder(t);
  const plant = await openPlant(t, ceph(), { DOWNLINK_LIST_BUCKETS: "0" });
  const place = join(folder, "place");
  {
    await using cloud = await plant.start();
    await put(plant, "a.mcap", "b.mcap", "c.mcap");
    await uploadAnother(cloud);
    await succeed(plant.site, "create-byob", "plant", ...plant.place);
    const all = { "a.mcap": "complete", "b.mcap": "complete", "c.mcap": "complete" };
    const ids = await scanUntil(cloud, plant, all);
    assert.match(await succeed(plant.run, "admin", "check", "--read-data"), checked(3));
    await succeed(plant.run, "admin", "backup", "--to", place);
    const copied = (await readdir(place, { recursive: true })).filter((name) => name.includes("obj_"));
    assert.deepEqual(copied, []);
    await plant.remove("b.mcap");
    await put(plant, "d.mcap");
    await cloud.admin.call(api.recordings.delete, { keyOrId: ids.get("c.mcap")! });
    await scanUntil(cloud, plant, { "a.mcap": "complete", "b.mcap": "ObjectGone", "d.mcap": "complete" });
    assert.doesNotMatch(await succeed(plant.run, "admin", "sweep"), /MISSING|obj_/);
  }
  const restored = await openPlant(t, ceph(), { ...plant.env, DOWNLINK_DATA_DIR: join(folder, "restored") });
  await succeed(restored.run, "admin", "restore", "--from", place);
  {
    await using cloud = await restored.start();
    await untilReady(cloud);
    const states = { "a.mcap": "complete", "b.mcap": "ObjectGone", "c.mcap": "complete", "d.mcap": "complete" };
    const ids = await scanUntil(cloud, restored, states);
    assert.equal(ids.size, 4);
    const { link } = await cloud.admin.call(api.exports.create, { recordingId: ids.get("a.mcap")! });
    assert.equal((await fetch(link)).status, 200);
    assert.match(await succeed(restored.run, "admin", "check", "--read-data"), checked(4));
    assert.doesNotMatch(await succeed(restored.run, "admin", "recovery"), /missing/i);
  }
  const target = join(folder, "target");
  assert.match(
    await succeed(restored.run, "admin", "blobs", "copy", "--to", `file:${target}`),
    /all objects and notes/,
  );
  const moved = (await readdir(target, { recursive: true })).filter((name) => name.includes("obj_"));
  assert.deepEqual(moved, []);
});

test("a database that is set back finds again what was imported since, and what was deleted stays so", {
  skip,
}, async (t) => {
  const databaseUrl = await createTestDatabase(t);
  const plant = await openPlant(t, ceph(), { DATABASE_URL: databaseUrl, DOWNLINK_LIST_BUCKETS: "0" });
  let copy: string;
  {
    await using cloud = await plant.start();
    await put(plant, "a.mcap", "b.mcap");
    await succeed(plant.site, "create-byob", "plant", ...plant.place);
    const ids = await scanUntil(cloud, plant, { "a.mcap": "complete", "b.mcap": "complete" });
    copy = await copyDatabase(databaseUrl);
    t.after(() => dropDatabase(copy));
    await put(plant, "c.mcap", "d.mcap");
    const all = { "a.mcap": "complete", "b.mcap": "complete", "c.mcap": "complete", "d.mcap": "complete" };
    const later = await scanUntil(cloud, plant, all);
    for (const keyOrId of [ids.get("a.mcap")!, later.get("c.mcap")!])
      await cloud.admin.call(api.recordings.delete, { keyOrId });
  }
  await restoreDatabase(databaseUrl, copy);
  await using cloud = await plant.start();
  await untilReady(cloud);
  await scanUntil(cloud, plant, { "b.mcap": "complete", "d.mcap": "complete" });
  assert.match(await succeed(plant.run, "admin", "check", "--read-data"), checked(2));
});

test("Ceph's log knows of not one write or delete", { skip }, async () => {
  const calls = await ceph().callsOfReader();
  assert.deepEqual(
    calls.filter((call) => !/^(GET|HEAD) /.test(call)),
    [],
  );
  assert.ok(calls.length > 0);
});
