import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { api } from "@downlink/protocol";
import { startControlPlane } from "../processes/control-plane.ts";
import { admin, assertRestored, makeFolder, readExports, run, succeed, uploadSome } from "./backed-up.ts";

test("the same command continues a backup or a restore that was killed at any moment", async (t) => {
  const folder = await makeFolder(t);
  const [dataDir, place, restored] = [join(folder, "live"), join(folder, "place"), join(folder, "restored")];
  const env = { DOWNLINK_DATA_DIR: dataDir };
  const into = { DOWNLINK_DATA_DIR: restored };
  await using cloud = await startControlPlane({ dataDir });
  const recordings = await uploadSome(cloud, 12);
  const bytes = await readExports(cloud, recordings);
  for (const line of [/^the database:/, /^the copy of the database/, /^\d+ objects/]) {
    await using program = admin(["backup", "--to", place], env);
    await program.line(line);
    await program.end("SIGKILL");
    const { code, output } = await run(["restore", "--from", place], into);
    assert.notEqual(code, 0);
    assert.match(output, /has no complete backup: none is complete, \d broke off/);
  }
  const [gone] = recordings;
  await cloud.admin.call(api.recordings.delete, { keyOrId: gone!.id });
  bytes.delete(gone!.id);
  const made = await succeed(["backup", "--to", place], env);
  assert.match(made, /, 0 of them new/, "what was copied before is taken over");
  assert.equal((await readdir(place)).length, 2, "nothing is left of those that broke off");

  for (const line of [/^restoring the backup/, /^\d+ objects/, /^\d+ notes/]) {
    await using program = admin(["restore", "--from", place], into);
    await program.line(line);
    await program.end("SIGKILL");
    if (line.source.includes("restoring")) continue;
    const started = await run(["check"], into);
    assert.match(started.output, /did not come to its end; give the same command again/);
  }
  await succeed(["restore", "--from", place], into);
  await assertRestored({}, restored, bytes);
});
