import assert from "node:assert/strict";
import { mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { skipInBucket } from "@downlink/cloud/testing";
import { startControlPlane } from "./processes/control-plane.ts";
import { startProgram } from "./processes/program.ts";

test("a control plane does not start over a store without its marks, until that is back or an admin accepts it", {
  skip: skipInBucket(),
}, async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), "downlink-wrong-store-"));
  t.after(() => rm(dataDir, { recursive: true }));
  const env = { DOWNLINK_DATA_DIR: dataDir, DOWNLINK_PORT: "0" };
  const run = async (...args: string[]) => {
    await using program = startProgram({ script: "cloud/src/main.ts", args, env });
    return { exitCode: await program.ended, output: program.output() };
  };
  const start = async () => {
    await using cloud = await startControlPlane({ dataDir });
    const { status, recovering } = (await (await fetch(`${cloud.url}/readyz`)).json()) as Record<string, unknown>;
    return { status, recovering };
  };
  const ready = { status: "ready", recovering: undefined };
  assert.deepEqual(await start(), ready);
  const notes = join(dataDir, "objects", "notes");
  await rename(notes, `${notes}.away`);
  for (const command of [["all"], ["admin", "sweep"]]) {
    const { exitCode, output } = await run(...command);
    assert.equal(exitCode, 1, output);
    assert.match(output, /downlink: the object store has no mark.*wrong or unmounted store.*--accept-store/);
  }
  await rename(`${notes}.away`, notes);
  assert.deepEqual(await start(), ready);

  await rm(notes, { recursive: true });
  const accepted = await run("admin", "recovery", "--accept-store");
  assert.equal(accepted.exitCode, 0, accepted.output);
  assert.match(accepted.output, /recovering since .*an admin accepted the object store as it is/);
  assert.equal((await start()).status, "ready");
});
