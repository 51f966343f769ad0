import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { eventually } from "@downlink/recordings/testing";
import { request } from "undici";
import { startControlPlane } from "../processes/control-plane.ts";
import { assertRestored, makeFolder, readExports, run, succeed, uploadSome } from "./backed-up.ts";

const LAST_BACKUP = /^downlink_last_backup_timestamp_seconds (\d+)/m;

test("a control plane backs itself up by its schedule, even after it was killed, and is restored from that", async (t) => {
  const folder = await makeFolder(t);
  const [dataDir, place, restored] = [join(folder, "live"), join(folder, "place"), join(folder, "restored")];
  const env = { DOWNLINK_BACKUP_SCHEDULE: "* * * * *", DOWNLINK_BACKUP_TO: place, DOWNLINK_BACKUP_KEEP_DAILY: "1" };
  const listPlace = () => readdir(place).catch((): string[] => []);
  const killed = await startControlPlane({ dataDir, env });
  const bytes = await readExports(killed, await uploadSome(killed, 3));
  await eventually(listPlace, (names) => names.some((name) => /^\d/.test(name)));
  await killed.program.end("SIGKILL");

  await using cloud = await startControlPlane({ dataDir, env });
  const readMetric = async () =>
    Number(LAST_BACKUP.exec(await (await request(`${cloud.url}/metrics`)).body.text())![1]);
  const startedAt = await eventually(readMetric, (seconds) => seconds > 0);
  assert.ok(Math.abs(Date.now() / 1000 - startedAt) < 3600);
  assert.match(await succeed(["status"], { DOWNLINK_DATA_DIR: dataDir, ...env }), /^backups {7}the last one is of 20/m);
  await cloud.program.end("SIGTERM");
  await succeed(["restore", "--from", place], { DOWNLINK_DATA_DIR: restored });
  await assertRestored({}, restored, bytes);
});

test("a schedule that cannot be read stops the start with a sentence", async (t) => {
  const env = { DOWNLINK_DATA_DIR: await makeFolder(t), DOWNLINK_BACKUP_SCHEDULE: "nightly" };
  const { code, output } = await run(["status"], env);
  assert.equal(code, 2);
  assert.match(output, /DOWNLINK_BACKUP_SCHEDULE: must be five fields of cron such as 30 2 \* \* \*/);
});
