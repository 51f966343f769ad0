import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { FakeCloud } from "../testing/fake-cloud.ts";
import { makeDevice, settingsFor, startDaemon } from "../testing/run-daemon.ts";
import { runAgent } from "../testing/start-agent.ts";
import { enroll } from "./enroll.ts";

test("enrolling with a token that can only create a device leaves the device's own token in the env file", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  const configFile = join(device.stateDir, "..", "agent.env");
  const settings = settingsFor(device, cloud, { deviceToken: cloud.enrolmentToken, deviceName: "rover-1" });
  const { name } = await enroll(settings, configFile);
  assert.equal(name, "rover-1");
  const [, token] = /^DOWNLINK_DEVICE_TOKEN=(\S+)$/m.exec(readFileSync(configFile, "utf8")) ?? [];
  assert.ok(token !== undefined && token !== cloud.enrolmentToken && cloud.enrolments.isEnrolled(token));
  await using agent = startDaemon(settingsFor(device, cloud, { deviceToken: token }));
  await agent.until("it is connected", ({ connection }) => connection.state === "connected");
});

test("without a name such a token is refused, and the complaint says what it is good for", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  const settings = settingsFor(device, cloud, { deviceToken: cloud.enrolmentToken });
  await assert.rejects(enroll(settings, join(device.stateDir, "..", "agent.env")), { code: "DeviceTokenUnassociated" });
});

test("a site's token is told by its beginning, and is kept as one", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  cloud.site = { id: "site_1", name: "depot" };
  cloud.token = "dl_st_0123456789abcdefghijABCDEFGHIJ";
  const configFile = join(device.stateDir, "..", "agent.env");
  const places = ["--storage-root", device.root, "--state-dir", device.stateDir, "--url", cloud.url];
  const { code, stdout, stderr } = await runAgent("enroll", "--config", configFile, "--token", cloud.token, ...places);
  assert.deepEqual([code, stderr], [0, ""]);
  assert.match(stdout, /^Enrolled as site depot\./);
  const written = readFileSync(configFile, "utf8");
  assert.ok(written.includes(`DOWNLINK_SITE_TOKEN=${cloud.token}`) && !written.includes("DOWNLINK_DEVICE_TOKEN"));
});
