import assert from "node:assert/strict";
import { uptime } from "node:os";
import { test } from "node:test";
import { FakeCloud } from "../testing/fake-cloud.ts";
import type { Fault } from "../testing/fake-http.ts";
import { writeRecording } from "../testing/recordings.ts";
import { makeDevice, settingsFor, startDaemon } from "../testing/run-daemon.ts";

test("while another agent holds the lease this one changes nothing, reports that, and begins once the lease is free", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  await writeRecording(device, "a.mcap");
  cloud.takeLeaseElsewhere();
  await using agent = startDaemon(settingsFor(device, cloud));
  const { problems } = await agent.until("it waits", ({ connection }) => connection.state === "held elsewhere");
  assert.deepEqual(
    problems.map(({ code }) => code),
    ["LeaseHeldElsewhere"],
  );
  assert.equal(
    cloud.calls.some(({ name }) => name === "report"),
    false,
  );
  cloud.leaseMs = 0;
  await cloud.until("the file is reported", () => cloud.files.size === 1);
  await agent.until("all is well", ({ health }) => health === "healthy");
});

test("an agent whose lease was taken says hello again and goes on where it was", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  await writeRecording(device, "a.mcap");
  await using _agent = startDaemon(settingsFor(device, cloud));
  await cloud.until("the first is reported", () => cloud.files.size === 1);
  cloud.leaseMs = 0;
  cloud.takeLeaseElsewhere();
  await writeRecording(device, "b.mcap", { seed: 2 });
  await cloud.until("the second is reported", () => cloud.files.size === 2);
  assert.ok(cloud.calls.filter(({ name }) => name === "hello").length >= 2);
});

test("a restart takes its own lease over at once, without waiting for it to end", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  for (let round = 0; round < 2; round++) {
    await using agent = startDaemon(settingsFor(device, cloud));
    const { problems } = await agent.until("it is connected", ({ connection }) => connection.state === "connected");
    assert.deepEqual(problems, []);
  }
});

test("a restart does not wait for the lease of a process that never received it", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  let lost = 0;
  cloud.fault = ({ name }) => (name === "hello" && lost++ === 0 ? { kind: "loseAnswer" } : { kind: "cut" });
  for (let process = 0; process < 3; process++) {
    await using agent = startDaemon(settingsFor(device, cloud));
    await agent.until("nothing comes back", ({ problems }) => problems[0]?.code === "CloudUnreachable");
  }
  cloud.fault = () => undefined;
  await using agent = startDaemon(settingsFor(device, cloud));
  const { problems } = await agent.until("it is connected", ({ connection }) => connection.state === "connected");
  assert.deepEqual(problems, []);
});

const troubles: [string, Fault, string][] = [
  ["a captive portal", { kind: "html", status: 403 }, "ForeignAnswer"],
  ["a captive portal that says all is well", { kind: "html", status: 200 }, "ForeignAnswer"],
  ["a revoked token", { kind: "answer", status: 401, code: "Unauthenticated" }, "TokenRefused"],
  ["a copy of its state at work elsewhere", { kind: "answer", status: 409, code: "Cloned" }, "Cloned"],
  ["a disabled device", { kind: "answer", status: 403, code: "DeviceDisabled" }, "DeviceDisabled"],
  ["a fault of the server", { kind: "answer", status: 500, code: "Internal" }, "CloudBusy"],
  ["a broken connection", { kind: "cut" }, "CloudUnreachable"],
  ["an answer of nothing but brackets", { kind: "body", text: "[".repeat(2_000_000) }, "ForeignAnswer"],
  ["an answer of two million parts", { kind: "body", text: `[${"{},".repeat(2_000_000)}{}]` }, "ForeignAnswer"],
  ["an answer of 9 MB", { kind: "body", text: JSON.stringify("x".repeat(9_000_000)) }, "ForeignAnswer"],
];

test("any obstacle between agent and cloud is named as a problem, which ends with the obstacle", async (t) => {
  await Promise.all(
    troubles.map(([name, fault, code]) =>
      t.test(name, async () => {
        using device = makeDevice();
        await using cloud = await FakeCloud.start();
        cloud.fault = () => fault;
        await using agent = startDaemon(settingsFor(device, cloud));
        const { health } = await agent.until(`${code} is named`, ({ problems }) => problems[0]?.code === code);
        assert.equal(health, "degraded");
        cloud.fault = () => undefined;
        await agent.until("it is over", (status) => status.health === "healthy");
      }),
    ),
  );
});

test("state that belongs to another device ends the agent with a message that says what to do", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  await using first = startDaemon(settingsFor(device, cloud));
  await first.until("it is connected", ({ connection }) => connection.state === "connected");
  await first.stop();
  cloud.device = { id: "dev_2", name: "rover-2" };
  await using second = startDaemon(settingsFor(device, cloud));
  await assert.rejects(second.ended, /belongs to another device \(deviceId dev_1, not dev_2\).*DOWNLINK_STATE_DIR/);
});

test("the cloud receives the agent's status", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  await using _agent = startDaemon(settingsFor(device, cloud));
  await cloud.until("a heartbeat arrives", () => cloud.heartbeats.length > 0);
  assert.deepEqual(cloud.heartbeats[0]?.problems, []);
});

test("a heartbeat reports what holds uploads back, since when something waits, and when the machine was started", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  await writeRecording(device, "a.mcap");
  await using first = startDaemon(settingsFor(device, cloud));
  await cloud.until("it is reported", () => cloud.files.size === 1);
  await first.stop();
  const [item] = cloud.files.values();
  cloud.heartbeats = [];
  await using _second = startDaemon(settingsFor(device, cloud, { uploadRate: "off" }));
  await cloud.until("it says so", () => cloud.heartbeats.length > 0);
  const [said] = cloud.heartbeats;
  assert.deepEqual([said!.transfers, said!.throttle], [[], { reason: "the upload rate is off" }]);
  assert.equal(said!.oldestNotImportedAt, (item as { end?: unknown }).end);
  const bootedMs = Date.now() - uptime() * 1000;
  assert.ok(Math.abs(Number(said!.bootedAt) / 1e6 - bootedMs) < 5000);
});

test("an agent notices at its next call that the cloud was restored, says hello, and then lists all files", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  await writeRecording(device, "a.mcap");
  await using agent = startDaemon(settingsFor(device, cloud));
  await cloud.until("it is reported", () => cloud.files.size === 1);
  await agent.until("all is well", ({ health }) => health === "healthy");
  const { listings } = cloud;
  const hellos = cloud.calls.filter(({ name }) => name === "hello").length;
  cloud.files.clear();
  cloud.incarnation = "2";
  cloud.changed();
  await cloud.until("it gets all files again", () => cloud.files.size === 1 && cloud.listings > listings);
  assert.equal(cloud.calls.filter(({ name }) => name === "hello").length, hellos + 1);
  await agent.until("all is well again", ({ health }) => health === "healthy");
});

test("an agent whose last lease the cloud forgot lists all files, even if the cloud would take the inventory for known", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  await writeRecording(device, "a.mcap");
  await using first = startDaemon(settingsFor(device, cloud));
  await cloud.until("it is reported", () => cloud.files.size === 1);
  await first.stop();
  await using second = startDaemon(settingsFor(device, cloud)); // It holds the second lease.
  await second.until("it is connected", ({ health }) => health === "healthy");
  const { listings } = cloud;
  cloud.forgetLeases();
  await writeRecording(device, "b.mcap", { seed: 2 });
  await cloud.until("everything is reported", () => cloud.listings > listings && cloud.files.size === 2);
});

test("an older cloud, which names its incarnation only in the answer to the hello, gets one hello", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  cloud.namesIncarnation = false;
  await writeRecording(device, "a.mcap");
  await using _agent = startDaemon(settingsFor(device, cloud));
  await cloud.until("it is reported", () => cloud.files.size === 1);
  assert.equal(cloud.calls.filter(({ name }) => name === "hello").length, 1);
});

test("an older cloud, which lets a call for work wait for 30 seconds and does not report that, is asked to wait no longer", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  cloud.longPollSeconds = undefined;
  await writeRecording(device, "a.mcap");
  await using agent = startDaemon(settingsFor(device, cloud));
  await cloud.until("it is reported", () => cloud.files.size === 1);
  cloud.requestImport("a.mcap");
  await cloud.until("it is stored", () => cloud.uploads.stored.size === 1);
  assert.deepEqual((await agent.status()).problems, []);
});

test("an older cloud that comes in place of a newer one is asked for a shorter wait, without a new hello", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  await writeRecording(device, "a.mcap");
  await using agent = startDaemon(settingsFor(device, cloud));
  await cloud.until("it is reported", () => cloud.files.size === 1);
  cloud.longPollSeconds = undefined;
  cloud.requestImport("a.mcap");
  await cloud.until("it is stored", () => cloud.uploads.stored.size === 1);
  await agent.until("it waits again", ({ problems }) => problems.length === 0);
  cloud.requestImport("a.mcap");
  await cloud.until("it is asked for again", () => cloud.calls.filter(({ name }) => name === "work").length >= 4);
  assert.deepEqual((await agent.status()).problems, []);
  assert.equal(cloud.calls.filter(({ name }) => name === "hello").length, 1);
});

test("a refusal to answer what the cloud wants is a problem until the cloud answers", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  cloud.fault = ({ name }) => (name === "work" ? { kind: "answer", status: 400, code: "InvalidRequest" } : undefined);
  await using agent = startDaemon(settingsFor(device, cloud));
  const { problems } = await agent.until("it is named", (status) => status.problems[0]?.code === "Refused");
  assert.match(problems[0]!.detail, /^work: /);
  cloud.fault = () => undefined;
  await agent.until("it is over", ({ health }) => health === "healthy");
});
