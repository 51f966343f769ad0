import assert from "node:assert/strict";
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { startControlPlane } from "../processes/control-plane.ts";
import { assertRestored, flipByte, makeFolder, readExports, run, startLoad, succeed, uploadSome } from "./backed-up.ts";

test("a backup that was made during imports and deletions is restored completely, and never over existing data", async (t) => {
  const folder = await makeFolder(t);
  const [dataDir, place, restored] = [join(folder, "live"), join(folder, "place"), join(folder, "restored")];
  const env = { DOWNLINK_DATA_DIR: dataDir };
  const to = ["backup", "--to", place];
  await using cloud = await startControlPlane({ dataDir });
  const recordings = await uploadSome(cloud, 5);
  const bytes = await readExports(cloud, recordings.slice(0, 3));
  const load = startLoad(cloud);
  assert.match(await succeed(to, env), /[1-9]\d* notes\nthe backup \S+ in \S+ is complete/);
  const second = await succeed(to, env);
  await load.stop();
  const [, objects, fresh] = /(\d+) objects of \d+ bytes, (\d+) of them new/.exec(second)!;
  assert.ok(Number(fresh) < Number(objects), "the second one copies only what is new");
  assert.match(await succeed(["check"], env), /agree/, "nothing is left of it in the deployment");

  assert.equal((await stat(place)).mode & 0o777, 0o700);
  for (const entry of await readdir(place, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) assert.equal((await stat(join(entry.parentPath, entry.name))).mode & 0o777, 0o600, entry.name);

  const from = ["restore", "--from", place];
  const into = { DOWNLINK_DATA_DIR: restored };
  await succeed(from, into);
  const again = await run(from, into);
  assert.notEqual(again.code, 0);
  assert.match(again.output, /holds a database: a backup is restored into an empty place only/);
  const overLive = await run(from, env);
  assert.match(overLive.output, /holds a database/);
  await assertRestored({}, restored, bytes);
});

test("an object that the store has lost or that was altered stays in the backup as it was, and is reported", async (t) => {
  const folder = await makeFolder(t);
  const [dataDir, place, restored] = [join(folder, "live"), join(folder, "place"), join(folder, "restored")];
  const env = { DOWNLINK_DATA_DIR: dataDir };
  await using cloud = await startControlPlane({ dataDir });
  const bytes = await readExports(cloud, await uploadSome(cloud, 3));
  await succeed(["backup", "--to", place], env);
  const names = await readdir(join(dataDir, "objects"), { recursive: true });
  const objects = names.filter((name) => /^[0-9a-f]{2}\/org_\w+\+upl_\w+$/.test(name));
  const [lost, altered] = objects.map((name) => join(dataDir, "objects", name)) as [string, string];
  await rm(lost);
  await flipByte(altered);
  await uploadSome(cloud, 1);
  const { code, output } = await run(["backup", "--to", place, "--keep", "1"], env);
  assert.equal(code, 1, output);
  assert.match(output, /WARNING: org_\w+\/upl_\w+: it is not in the store; recording rec_\w+ needs it/);
  assert.match(output, /is complete/);
  await succeed(["restore", "--from", place], { DOWNLINK_DATA_DIR: restored });
  await assertRestored({}, restored, bytes);
});
