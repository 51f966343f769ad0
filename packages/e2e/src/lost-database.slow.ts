import assert from "node:assert/strict";
import { mkdtemp, readdir, rm, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { skipInBucket } from "@downlink/cloud/testing";
import { api } from "@downlink/protocol";
import { eventually } from "@downlink/recordings/testing";
import { request } from "undici";
import { type ControlPlane, startControlPlane } from "./processes/control-plane.ts";
import { startProgram } from "./processes/program.ts";
import { uploadAnother } from "./processes/upload-another.ts";

const FILES = 20;

/** Returns each complete recording with the bytes of its export. */
async function exportAll({ admin }: ControlPlane) {
  const recordings = await eventually(
    () => admin.call(api.recordings.list, { sortBy: "createdAt" }),
    (all) => all.filter(({ importStatus }) => importStatus === "complete").length === FILES,
  );
  const exported = new Map<string, object>();
  for (const { id, path, key, start, end, device, size } of recordings) {
    const { link } = await admin.call(api.exports.create, { recordingId: id });
    const { statusCode, body } = await request(link);
    assert.equal(statusCode, 200);
    exported.set(id, { path, key, start, end, device, size, bytes: Buffer.from(await body.arrayBuffer()) });
  }
  return exported;
}

test("a database that is lost is made again of the object store by the commands of the page, even if they are killed", {
  skip: skipInBucket(),
}, async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), "downlink-lost-database-"));
  t.after(() => rm(dataDir, { recursive: true }));
  const start = (...args: string[]) =>
    startProgram({ script: "cloud/src/main.ts", args, env: { DOWNLINK_DATA_DIR: dataDir, DOWNLINK_PORT: "0" } });
  const run = async (...args: string[]) => {
    await using program = start(...args);
    return { exitCode: await program.ended, output: program.output() };
  };
  let before: Awaited<ReturnType<typeof exportAll>>;
  {
    await using cloud = await startControlPlane({ dataDir });
    for (let file = 0; file < FILES; file++) await uploadAnother(cloud);
    before = await exportAll(cloud);
  }
  await rm(join(dataDir, "postgres"), { recursive: true });
  const marks = join(dataDir, "objects", "notes", "marks");
  for (const name of await readdir(marks, { recursive: true })) await utimes(join(marks, name), 1, 1); // it was lost long ago

  const refused = await run("all");
  assert.match(refused.output, /marks of another deployment.*--from-store makes it again/);
  const shown = await run("admin", "recovery", "--from-store");
  assert.equal(shown.exitCode, 0, shown.output);
  assert.match(shown.output, new RegExp(`organization default .* device rover .*: ${FILES} recordings`));
  {
    await using killed = start("admin", "recovery", "--from-store", "--yes");
    await killed.line(/^lost with the database/);
    await killed.end("SIGKILL");
  }
  const made = await run("admin", "recovery", "--from-store", "--yes");
  assert.equal(made.exitCode, 0, made.output);
  assert.match(made.output, /database and object store belong together/);
  const checked = await run("admin", "check", "--read-data");
  assert.equal(checked.exitCode, 0, checked.output);

  await using cloud = await startControlPlane({ dataDir });
  assert.deepEqual(await exportAll(cloud), before);
});
