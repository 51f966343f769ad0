import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { InvalidSettingError } from "../settings/invalid-setting-error.ts";
import { loadSettings } from "../settings/settings.ts";
import { FakeCloud } from "../testing/fake-cloud.ts";
import { writeRecording } from "../testing/recordings.ts";
import { type Device, makeDevice, settingsFor, startDaemon } from "../testing/run-daemon.ts";
import { configuredToken } from "./credential.ts";

const enrolling = (device: Device, cloud: FakeCloud, deviceToken = cloud.enrolmentToken) =>
  settingsFor(device, cloud, { deviceToken, deviceName: "rover-9" });
const ownTokenOf = ({ stateDir }: Device) => JSON.parse(readFileSync(join(stateDir, "device-token.json"), "utf8"));

test("a token that can only create a device is exchanged for the agent's own, which it keeps before it sends it", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  const kept: unknown[] = [];
  cloud.gate = async ({ name }) => {
    if (name === "enroll") kept.push(ownTokenOf(device).enrolmentId);
  };
  await writeRecording(device, "a.mcap");
  await using _agent = startDaemon(enrolling(device, cloud));
  await cloud.until("the file is reported", () => cloud.files.size === 1);
  assert.deepEqual(kept, [cloud.enrolments.made[0]!.enrolmentId]);
  assert.equal(statSync(join(device.stateDir, "device-token.json")).mode & 0o777, 0o600);
});

test("an answer that is lost is asked for again, also by the next process: one device, one secret", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  let lost = 0;
  cloud.fault = ({ name }) => (name === "enroll" && lost++ < 2 ? { kind: "loseAnswer" } : undefined);
  const settings = enrolling(device, cloud);
  const first = startDaemon(settings);
  await cloud.until("the first answer is lost", () => lost > 0);
  await first.stop();
  await using second = startDaemon(settings);
  await second.until("it is connected", ({ connection }) => connection.state === "connected");
  assert.equal(cloud.enrolments.made.length, 1);
});

test("once enrolled, an agent speaks with its own token, and asks for no other at its next start", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  for (let round = 0; round < 2; round++) {
    await using agent = startDaemon(enrolling(device, cloud));
    await agent.until("it is connected", ({ connection }) => connection.state === "connected");
  }
  assert.equal(cloud.calls.filter(({ name }) => name === "enroll").length, 1);
});

test("a name that is taken is reported with what to do, and the agent goes on once it is free", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  cloud.enrolments.takenNames.add("rover-9");
  await using agent = startDaemon(enrolling(device, cloud));
  const { problems } = await agent.until("it is said", (status) => status.problems.length > 0);
  assert.deepEqual(
    problems.map(({ code }) => code),
    ["DeviceNameTaken"],
  );
  cloud.enrolments.takenNames.clear();
  await agent.until("all is well", ({ health }) => health === "healthy");
});

test("a new token that can only create devices, in place of the old one, leaves the device with the token it has", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  for (const token of [cloud.enrolmentToken, "dl_dt_another_unassociated"]) {
    cloud.enrolmentToken = token;
    await using agent = startDaemon(enrolling(device, cloud));
    await agent.until("it is connected", ({ connection }) => connection.state === "connected");
  }
  assert.equal(cloud.enrolments.made.length, 1);
  assert.equal(cloud.enrolments.isEnrolled(ownTokenOf(device).token), true);
});

test("a device's own token needs no enrolment, whatever the name says", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  await using agent = startDaemon(enrolling(device, cloud, cloud.token));
  await agent.until("it is connected", ({ connection }) => connection.state === "connected");
  assert.equal(cloud.enrolments.made.length, 0);
});

test("an agent with a token for a device and one for a site does not start; without any the message says where to put one", () => {
  const of = (flags: Parameters<typeof loadSettings>[0]["flags"]) =>
    configuredToken(loadSettings({ flags, environment: {}, configFile: "/dev/null" }));
  assert.throws(() => of({ deviceToken: "a", siteToken: "b" }), InvalidSettingError);
  assert.throws(() => of({}), /DOWNLINK_DEVICE_TOKEN is not set/);
  assert.equal(of({ siteToken: "b" }), "b");
});
