import { test } from "node:test";
import { untilProblem } from "./ask-status.ts";
import { type FaultBed, openFaultBed } from "./fault-bed.ts";
import { assertInvariants } from "./invariants.ts";
import { type KeptAgent, keepRunning } from "./keep-running.ts";
import { requireNetwork } from "./require-network.ts";
import { liveThrough, makeRobot, type Robot } from "./robot.ts";
import { untilMoving } from "./until-moving.ts";

/** The messages with which an agent gives up a call, a part, and a connection. */
const GIVEN_UP = /no answer within|no progress for|Connect Timeout/;

test("the agent itself gives up connections that carry nothing any more and never end, and everything else goes on", {
  concurrency: 2,
}, async (t) => {
  await using network = await requireNetwork(t);
  await using bed = await openFaultBed({ host: network?.addresses[0] });
  const swallowed = t.test("the connections of the moment, while new ones work", () =>
    liveOn(bed, {}, async (_, agent) => {
      bed.proxy.swallow();
      await agent.line(GIVEN_UP);
    }),
  );
  const dark = t.test("all of them, real packets on a link of its own", { skip: !network }, () =>
    liveOn(bed, { within: network?.within }, async (robot) => {
      await network?.shape("carries nothing");
      await untilProblem(robot, "CloudUnreachable", GIVEN_UP);
      await network?.shape("as it is");
    }),
  );
  await Promise.all([swallowed, dark]);
});

type Strike = (robot: Robot, agent: KeptAgent) => Promise<void>;

/** Runs a robot's life in which a fault strikes while the large file is being sent. */
async function liveOn(bed: FaultBed, extras: Parameters<typeof makeRobot>[1], strike: Strike): Promise<void> {
  await using robot = await makeRobot(bed, extras);
  await using agent = keepRunning(robot.agentOptions);
  const life = liveThrough(bed, robot);
  await untilMoving(bed, life);
  await strike(robot, agent);
  bed.proxy.throttle(Number.POSITIVE_INFINITY);
  await Promise.race([life, agent.fell]);
  await agent.stop();
  await assertInvariants(bed, robot);
}
