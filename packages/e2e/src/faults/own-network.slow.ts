import assert from "node:assert/strict";
import { test } from "node:test";
import { startNameServer } from "../processes/name-server.ts";
import { startTcpProxy } from "../processes/tcp-proxy.ts";
import { untilProblem } from "./ask-status.ts";
import { openFaultBed } from "./fault-bed.ts";
import { assertInvariants } from "./invariants.ts";
import { keepRunning } from "./keep-running.ts";
import { requireNetwork } from "./require-network.ts";
import { liveThrough, makeRobot } from "./robot.ts";
import { untilMoving } from "./until-moving.ts";

const NAME = "cloud.downlink.example";

test("a name that does not resolve or resolves to another address, and a link that loses packets, cost only time", async (t) => {
  await using network = await requireNetwork(t);
  if (!network) return t.skip("it needs root, Linux, iproute2 and util-linux");
  const [first, second] = network.addresses;
  await using names = await startNameServer(first);
  await using bed = await openFaultBed({ host: first, reachedAs: (url) => url.replace(first, NAME) });
  const { port } = new URL(bed.proxy.url);
  await using robot = await makeRobot(bed, { within: network.within });
  names.answer = "no such name";
  await using agent = keepRunning(robot.agentOptions);
  await untilProblem(robot, "NameUnresolved", /ENOTFOUND/);

  names.answer = first;
  const life = liveThrough(bed, robot);
  await untilMoving(bed, life);
  for (const trouble of ["failure", "silence"] as const) {
    names.answer = trouble;
    bed.proxy.cut();
    await untilProblem(robot, "NameUnresolved", /EAI_AGAIN/);
  }
  await network.shape("loses packets");
  await using moved = await startTcpProxy({ host: second, port: Number(port) });
  moved.leadTo(bed.proxy.url);
  names.answer = second;
  bed.proxy.throttle(Number.POSITIVE_INFINITY);
  await Promise.race([life, agent.fell]);
  const lostPackets = await network.shape("as it is");
  t.diagnostic(`${lostPackets} packets were lost`);
  assert.ok(lostPackets > 0);
  assert.ok(moved.sentBytes() > 0);
  await agent.stop();
  await assertInvariants(bed, robot);
});
