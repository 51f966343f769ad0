import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { api } from "@downlink/protocol";
import { eventually } from "@downlink/recordings/testing";
import { askStatus } from "./ask-status.ts";
import { openFaultBed } from "./fault-bed.ts";
import { assertInvariants } from "./invariants.ts";
import { keepRunning } from "./keep-running.ts";
import { files, liveThrough, makeRobot } from "./robot.ts";
import { createShiftedClock } from "./shifted-clock.ts";
import { untilMoving, untilSent } from "./until-moving.ts";

const YEAR_MS = 365 * 86_400_000;
const DAY_SECONDS = 86_400;
/** The recordings are years old, and stay for a day after they were reported. */
const kept = [files.small, files.large, files.renamedTo, files.cut];

test("clocks of the robot and of the cloud that are set by a year in mid-upload delete nothing early and give nothing up", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "downlink-clocks-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const cloudClock = await createShiftedClock(join(folder, "clock"));
  const cloudEnv = { ...cloudClock.env, NODE_OPTIONS: `--import ${cloudClock.module}` };
  await using bed = await openFaultBed({ cloudEnv });
  await using robot = await makeRobot(bed, { env: { DOWNLINK_UPLOAD_RATE: "Mon-Sun 00:00-24:00 8MB/s; * off" } });
  await bed.admin.call(api.devices.update, { nameOrId: robot.deviceId, retainRecordingsSeconds: DAY_SECONDS });
  await using agent = keepRunning(robot.agentOptions);
  const life = liveThrough(bed, robot);
  await untilMoving(bed, life);
  bed.proxy.throttle(1_000_000);
  const status = () => askStatus(robot.agentOptions);
  const sendMore = () => untilSent(bed.proxy, 1_000_000);
  for (const years of [1, -1]) {
    await robot.setClock(years * YEAR_MS);
    await sendMore();
    await agent.kill("SIGKILL");
    await agent.line(/"connected"/);
    await sendMore();
    const { isPaused, bytesPerSecond } = (await status())!.throttle;
    assert.deepEqual([isPaused, bytesPerSecond], [false, 8_000_000]);
  }
  await agent.kill("SIGKILL");
  await cloudClock.set(YEAR_MS);
  await eventually(status, (shown) => shown?.deletions.heldUntil != null);
  await robot.setClock(0);
  await cloudClock.set(0);
  bed.proxy.throttle(Number.POSITIVE_INFINITY);
  await Promise.race([life, agent.fell]);
  assert.deepEqual((await status())?.problems, []);
  for (const path of kept) assert.ok(existsSync(join(robot.root, path)), `${path} is there`);
  await agent.stop();
  await assertInvariants(bed, robot);
});
