import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { FakeCloud } from "../testing/fake-cloud.ts";
import { writeRecording } from "../testing/recordings.ts";
import { flagsFor, makeDevice, settingsFor, startDaemon, untilStatus } from "../testing/run-daemon.ts";
import { runAgent, startAgent } from "../testing/start-agent.ts";

const wants = (cloud: FakeCloud, path: string) => {
  const item = cloud.at(path);
  return item?.state === "indexed" && item.wantsImport === true;
};

test("the report of a file says when it is to be imported without being asked for", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  mkdirSync(join(device.root, "keep"));
  await writeRecording(device, "keep/a.mcap");
  await writeRecording(device, "b.mcap", { seed: 2 });
  await using _agent = startDaemon(settingsFor(device, cloud, { autoImport: "keep/**" }));
  await cloud.until("both are reported", () => cloud.files.size === 2);
  await cloud.until("the one that matches says so", () => wants(cloud, "keep/a.mcap"));
  assert.equal(wants(cloud, "b.mcap"), false);
});

test("files that are known already are reported again when the control plane sets globs, once, also over a restart", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  await writeRecording(device, "a.mcap");
  const settings = settingsFor(device, cloud);
  await using first = startDaemon(settings);
  await cloud.until("it is reported", () => cloud.at("a.mcap") !== undefined);
  assert.equal(wants(cloud, "a.mcap"), false);
  cloud.settings = { ...cloud.settings, autoImport: ["**/*.mcap"] };
  cloud.changed();
  await cloud.until("it is reported again", () => wants(cloud, "a.mcap"));
  await first.stop();
  const before = cloud.calls.filter(({ name }) => name === "report").length;
  await using second = startDaemon(settings);
  await second.until("it runs", ({ health, storage }) => health === "healthy" && storage.lastScanAt !== null);
  await writeRecording(device, "b.mcap", { seed: 2 });
  await cloud.until("the next one is reported", () => wants(cloud, "b.mcap"));
  const reports = cloud.calls.filter(({ name }) => name === "report").length - before;
  assert.ok(reports <= 3, `${reports} reports for one file`); // One report each for settling, finished and the schemas.
});

const quick = { DOWNLINK_SETTLE_TIME: "50ms", DOWNLINK_WATCH_SCAN_INTERVAL: "100ms" };
/** A backtracking matcher tries every way to distribute the letters over the stars. */
const endless = [
  `${"*a".repeat(30)}*b`,
  `**/${"*a".repeat(30)}*b`,
  "{a,b}{a,b}".repeat(20),
  `**${"/**/*a".repeat(40)}/b`,
];

test("no globs that the control plane sets make the agent stand still, at once or after a restart", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  cloud.settings = { ...cloud.settings, autoImport: endless };
  const short = `${"a".repeat(60)}.mcap`;
  const long = `${`${"a".repeat(240)}/`.repeat(15)}${"a".repeat(240)}.mcap`; // The system takes nearly 4,000 characters.
  mkdirSync(join(device.root, dirname(long)), { recursive: true });
  for (const [seed, path] of [short, long].entries()) await writeRecording(device, path, { seed });
  for (const time of ["at first", "after a restart"]) {
    await using agent = startAgent([...flagsFor(device, cloud), "run"], quick);
    await untilStatus(device.stateDir, `both are reported ${time}`, ({ files }) => files.reported === 2);
    agent.kill("SIGTERM");
    assert.equal((await agent.exited).code, 0, time);
  }
  assert.deepEqual([wants(cloud, short), wants(cloud, long)], [false, false]);
  const { stdout } = await runAgent(...flagsFor(device, cloud), "explain", short);
  assert.match(stdout, /nobody has asked/);
});

test("globs on the device itself do not make it stand still either", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  const path = `${"a".repeat(60)}.mcap`;
  await writeRecording(device, path);
  const globs = `${endless.join(",")},**/*.mcap`;
  const environment = { ...quick, DOWNLINK_WATCH_INCLUDE: globs, DOWNLINK_WATCH_EXCLUDE: endless.join(",") };
  await using agent = startAgent([...flagsFor(device, cloud), "run"], { ...environment, DOWNLINK_AUTO_IMPORT: globs });
  await cloud.until("it is reported", () => wants(cloud, path));
  agent.kill("SIGTERM");
  assert.equal((await agent.exited).code, 0);
});

test("globs that this agent does not understand match nothing, and are named until they are corrected", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  cloud.settings = { ...cloud.settings, autoImport: ["**/*.mcap", "a(b"] };
  await writeRecording(device, "a.mcap");
  await using agent = startDaemon(settingsFor(device, cloud));
  const { problems } = await agent.until(
    "it is reported and complains",
    ({ files, problems: found }) => files.reported === 1 && found.length > 0,
  );
  assert.deepEqual(
    problems.map(({ code }) => code),
    ["CloudSettingUnusable"],
  );
  assert.match(problems[0]!.detail, /^autoImport: "a\(b" is no glob/);
  assert.equal(wants(cloud, "a.mcap"), false);
  const shown = await runAgent(...flagsFor(device, cloud), "config");
  assert.match(shown.stdout, /AUTO_IMPORT +\*\*\/\*\.mcap,a\(b +control plane/);
  cloud.settings = { ...cloud.settings, autoImport: ["**/*.mcap"] };
  cloud.changed();
  await cloud.until("it is reported again", () => wants(cloud, "a.mcap"));
  await agent.until("the complaint is over", ({ health }) => health === "healthy");
});
