import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api } from "@downlink/protocol";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { helloBody, sayHello, startAgent, type TestAgent } from "../../testing/test-agent.ts";
import { createStoppedClock } from "../../testing/test-clock.ts";

const clock = createStoppedClock(1_800_000_000_000_000_000n);
const cloud = await startCloud({ after }, { clock, works: false });
const { admin } = cloud;
const hello = ({ token }: TestAgent, lease: number, instanceId: string) =>
  cloud.withToken(token).call(api.edge.hello, helloBody({ lease, instanceId }));

test("two processes with copies of one state are both refused once the first one comes back a second time", async () => {
  const original = await startAgent(cloud, "original");
  const [first, second] = ["the-first-process", "the-second-process"];
  const ofFirst = await sayHello(cloud, { ...original, lease: original.hello.lease, instanceId: first });
  const ofSecond = await sayHello(cloud, { ...original, lease: ofFirst.hello.lease, instanceId: second });
  await assert.rejects(hello(original, ofFirst.hello.lease, first), refusedWith("LeaseHeldElsewhere"));
  await ofSecond.report([]); // a single return may be a call that the network held up
  await assert.rejects(hello(original, ofFirst.hello.lease, first), refusedWith("Cloned"));
  await assert.rejects(ofSecond.report([]), refusedWith("Cloned"));
  await assert.rejects(hello(original, ofSecond.hello.lease, second), refusedWith("Cloned"));
  const device = await admin.call(api.devices.get, { nameOrId: "original" });
  assert.equal(device.agent?.cloned, true);

  const released = await admin.call(api.devices.releaseAgent, { nameOrId: "original" });
  assert.equal(released.agent?.cloned, false);
  await hello(original, ofFirst.hello.lease, first);
});

test("a copy that was started by mistake and stopped again leaves no mark: the original goes on once the lease has ended", async () => {
  const original = await startAgent(cloud, "copied-once");
  const ofFirst = await sayHello(cloud, {
    ...original,
    lease: original.hello.lease,
    instanceId: "the-original-process",
  });
  await sayHello(cloud, { ...original, lease: ofFirst.hello.lease, instanceId: "the-copied-process" });
  const again = () => hello(original, ofFirst.hello.lease, "the-original-process");
  await assert.rejects(again(), refusedWith("LeaseHeldElsewhere"));
  clock.atNs += 61_000_000_000n;
  await again();
  await again();
});

test("a process that is restarted again and again is no clone, and neither are its predecessors that have ended", async () => {
  const agent = await startAgent(cloud, "restarted");
  let { lease } = agent.hello;
  for (let n = 0; n < 5; n++) ({ lease } = await hello(agent, lease, `process-number-${n}-of-many`));
  await hello(agent, lease, "process-number-4-of-many");
});

test("a second agent without the last lease is refused, but is no clone, however often it asks", async () => {
  const agent = await startAgent(cloud, "stranger");
  for (let n = 0; n < 4; n++)
    await assert.rejects(
      hello(agent, agent.hello.lease + 7, "some-stranger-elsewhere"),
      refusedWith("LeaseHeldElsewhere"),
    );
  await agent.report([]);
});

test("another organization cannot release an agent, and a key for other projects cannot either", async () => {
  await startAgent(cloud, "theirs-not-yours");
  const other = await cloud.otherOrganization();
  await assert.rejects(other.call(api.devices.releaseAgent, { nameOrId: "theirs-not-yours" }), refusedWith("NotFound"));
  const project = await admin.call(api.projects.create, { name: "elsewhere" });
  const limited = cloud.withToken(await cloud.addKey(["devices.update"], [project.id]));
  await assert.rejects(
    limited.call(api.devices.releaseAgent, { nameOrId: "theirs-not-yours" }),
    refusedWith("NotFound"),
  );
});
