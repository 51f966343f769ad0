import assert from "node:assert/strict";
import { test } from "node:test";
import { parseUploadRate } from "@downlink/protocol/upload-rate";
import { FakeCloud } from "../testing/fake-cloud.ts";
import { writeRecording } from "../testing/recordings.ts";
import { makeDevice, settingsFor, startDaemon } from "../testing/run-daemon.ts";
import { createStoppedClock } from "../testing/test-clock.ts";
import { createThrottle } from "./throttle.ts";

test("a rate that the control plane sets to off stops running uploads, and they go on when it says so", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  await writeRecording(device, "a.mcap", { sizeBytes: 600_000 });
  cloud.settings = { ...cloud.settings, uploadRate: "200kB/s" };
  await using agent = startDaemon(settingsFor(device, cloud));
  await cloud.until("the file is reported", () => cloud.at("a.mcap") !== undefined);
  cloud.requestImport("a.mcap");
  const running = await agent.until("it is uploading", ({ transfers }) => transfers.length === 1);
  assert.deepEqual([running.throttle.bytesPerSecond, running.throttle.text], [200_000, "limited to 200 kB/s"]);
  cloud.settings = { ...cloud.settings, uploadRate: "off" };
  cloud.changed();
  const paused = await agent.until(
    "it has stopped",
    ({ transfers, throttle }) => transfers.length === 0 && throttle.isPaused,
  );
  assert.deepEqual([paused.files, paused.throttle.text], [{ requested: 1 }, "the upload rate is off"]);
  cloud.settings = { ...cloud.settings, uploadRate: "unlimited" };
  cloud.changed();
  await cloud.until("it is stored", () => cloud.uploads.stored.size === 1);
});

test("below the rate at which a part would take a minute one part goes at a time, of a smaller size", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  for (const [seed, path] of ["a.mcap", "b.mcap"].entries())
    await writeRecording(device, path, { sizeBytes: 200_000, seed });
  await using agent = startDaemon(settingsFor(device, cloud, { uploadRate: "250kB/s" }));
  await cloud.until("both are reported", () => cloud.files.size === 2);
  let [running, most] = [0, 0];
  cloud.gate = ({ name }) => {
    if (name === "put") most = Math.max(most, ++running);
    if (name === "grantParts") running = 0; // The part before is complete.
    return undefined;
  };
  for (const path of ["a.mcap", "b.mcap"]) cloud.requestImport(path);
  await cloud.until("both are stored", () => cloud.uploads.stored.size === 2);
  assert.deepEqual([most, cloud.uploads.partSizes], [1, [5 * 1024 * 1024, 5 * 1024 * 1024]]);
  await agent.until("both are counted", ({ counters }) => counters.uploadedFiles === 2);
});

test("what the device sets goes before what the control plane sets", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  cloud.settings = { ...cloud.settings, uploadRate: "off" };
  await using agent = startDaemon(settingsFor(device, cloud, { uploadRate: "* 00:00-24:00 3MB/s" }));
  const { throttle } = await agent.until("it is connected", ({ connection }) => connection.state === "connected");
  assert.deepEqual([throttle.isPaused, throttle.bytesPerSecond, throttle.until], [false, 3_000_000, null]);
});

test("over an interface that uploads may not take files are only reported", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  await writeRecording(device, "a.mcap");
  await using denied = startDaemon(settingsFor(device, cloud, { uploadInterfaces: "!lo" }));
  await cloud.until("the file is reported", () => cloud.at("a.mcap") !== undefined);
  cloud.requestImport("a.mcap");
  const { throttle, transfers } = await denied.until(
    "it waits",
    ({ files, throttle }) => files.requested === 1 && throttle.text === "lo is denied",
  );
  assert.deepEqual([throttle.isPaused, throttle.interface, transfers], [true, "lo", []]);
  await denied.stop();
  await using _allowed = startDaemon(settingsFor(device, cloud, { uploadInterfaces: "lo" }));
  await cloud.until("it is stored", () => cloud.uploads.stored.size === 1);
});

test("uploads that a timetable pauses are looked at again when it ends, to the minute", () => {
  const clock = createStoppedClock(new Date(2026, 0, 5, 17, 59, 40).getTime());
  const throttle = createThrottle({
    pause: { current: () => undefined, msLeft: () => undefined },
    clock,
    settings: {
      ...{
        apiUrl: undefined,
        httpProxy: undefined,
        httpsProxy: undefined,
        noProxy: undefined,
        uploadConcurrency: undefined,
        uploadInterfaces: undefined,
      },
      uploadRate: parseUploadRate("Mon-Fri 08:00-18:00 off"),
    },
    cloudSettings: () => undefined,
    onChange: () => {},
  });
  assert.deepEqual([throttle.isPaused(), throttle.msUntilChange()], [true, 20_000]);
  assert.equal(throttle.state().untilNs, BigInt(new Date(2026, 0, 5, 18, 0).getTime()) * 1_000_000n);
  clock.atMs += 20_000;
  assert.equal(throttle.isPaused(), false);
});

test("a rate that only a later agent understands sets no limit, and keeps nothing from working", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  await writeRecording(device, "a.mcap");
  cloud.settings = { ...cloud.settings, uploadRate: "adaptive 3" };
  await using agent = startDaemon(settingsFor(device, cloud));
  await cloud.until("the file is reported", () => cloud.at("a.mcap") !== undefined);
  cloud.requestImport("a.mcap");
  await cloud.until("it is stored", () => cloud.uploads.stored.size === 1);
  assert.equal((await agent.status()).throttle.bytesPerSecond, null);
});
