import assert from "node:assert/strict";
import { test } from "node:test";
import { runDaemon } from "./daemon/daemon.ts";
import { createLog } from "./diagnostics/log.ts";
import { FakeCloud } from "./testing/fake-cloud.ts";
import { writeRecording } from "./testing/recordings.ts";
import { makeDevice, settingsFor, startDaemon, untilStatus } from "./testing/run-daemon.ts";
import { createRunningClock } from "./testing/test-clock.ts";

const YEAR_NS = 365n * 24n * 3_600_000_000_000n;

test("a clock that jumps by years in both directions makes the agent lose nothing and give up nothing", async (t) => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  const clock = createRunningClock();
  const stop = new AbortController();
  t.after(() => stop.abort());
  const log = createLog({ format: "json", level: "error", out: { write: () => true, on: () => undefined } });
  const daemon = runDaemon({ settings: settingsFor(device, cloud), log, clock, signal: stop.signal });

  const delivered = new Map<string, Buffer>();
  const requests: string[] = [];
  for (const [index, years] of [0n, 30n, -40n, 0n].entries()) {
    clock.skewNs = years * YEAR_NS;
    const path = `${index}.mcap`;
    delivered.set(path, await writeRecording(device, path, { seed: index + 1, sizeBytes: 200_000 }));
    await cloud.until(`${path} is reported at ${years} years`, () => cloud.at(path)?.state === "indexed");
    requests.push(cloud.requestImport(path));
    await cloud.until(`${path} is stored`, () => cloud.uploads.stored.has(cloud.at(path)!.versionId));
  }
  for (const request of requests) cloud.advance(request, "imported");
  await cloud.until("the ends are acknowledged", () => cloud.acknowledged.length === requests.length);
  for (const [path, bytes] of delivered) assert.deepEqual(cloud.uploads.stored.get(cloud.at(path)!.versionId), bytes);
  const { problems, files } = await untilStatus(
    device.stateDir,
    "all are imported",
    (status) => status.files.imported === 4,
  );
  assert.deepEqual([problems, files], [[], { imported: 4 }]);
  assert.deepEqual(cloud.failures, []);
  stop.abort();
  await daemon;
});

test("when the clock is set from 1972 to today while the agent runs, the status says so, and all ages stay right", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  const clock = createRunningClock({ skewNs: -54n * YEAR_NS });
  await using agent = startDaemon(settingsFor(device, cloud), clock);
  const off = await agent.until("it says so", ({ problems }) => problems.some(({ code }) => code === "ClockSkewed"));
  assert.deepEqual([off.health, off.connection.state], ["degraded", "connected"]);
  assert.match(off.problems[0]!.fix, /timedatectl/);
  assert.ok(Math.abs(off.connection.clockSkewMs! - Number(54n * YEAR_NS) / 1e6) < 10_000);
  const { scans } = off.counters;
  await agent.until("it has scanned again", ({ counters }) => counters.scans > scans);
  clock.skewNs = 0n;
  const { health, problems, agent: process, connection, storage } = await agent.status();
  assert.deepEqual([health, problems], ["healthy", []]);
  assert.ok(Math.abs(connection.clockSkewMs!) < 10_000);
  const times = [process.startedAt, connection.since, connection.lastContactAt, storage.lastScanAt];
  for (const time of times) assert.ok(Math.abs(Date.now() - Date.parse(time!)) < 60_000, String(time));
});
