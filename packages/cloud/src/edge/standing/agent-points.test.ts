import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api } from "@downlink/protocol";
import { slowTest } from "@downlink/recordings/testing";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { sayHello, startAgent } from "../../testing/test-agent.ts";
import { createStoppedClock } from "../../testing/test-clock.ts";
import { noteAgentPoints } from "./agent-points.ts";

const MINUTE_NS = 60_000_000_000n;
const STEP_NS = 5n * MINUTE_NS;
const DAY_NS = 1440n * MINUTE_NS;
const startNs = 1_800_000_000_000_000_000n;
const clock = createStoppedClock(startNs);
const cloud = await startCloud({ after }, { works: false, clock });
const { admin, deps } = cloud;
const agent = await startAgent(cloud, "robot");
const history = (page = {}) => admin.call(api.devices.listAgentHistory, { nameOrId: "robot", ...page });

const say = (freeBytes: number | undefined, rates: readonly number[]) =>
  agent.call(api.edge.status, {
    files: {},
    disk: freeBytes === undefined ? undefined : { totalBytes: 1000, freeBytes },
    problems: rates.map((_, i) => ({ code: `P${i}`, text: "", since: 0n })),
    transfers: rates.map((bytesPerSecond, i) => ({ recordingId: `rec_${i}`, sentBytes: 0, bytesPerSecond })),
  });

slowTest("for each five minutes in which an agent was heard one point is kept, for seven days", async () => {
  await noteAgentPoints(deps);
  assert.deepEqual(await history(), [], "it has said nothing yet");
  await say(900, [10, 20]);
  await noteAgentPoints(deps);
  clock.atNs += MINUTE_NS;
  await say(800, []);
  await noteAgentPoints(deps);
  clock.atNs = startNs + STEP_NS;
  await noteAgentPoints(deps);
  await say(undefined, []);
  await noteAgentPoints(deps);
  const points = [
    { at: startNs, freeBytes: 900, bytesPerSecond: 30, problems: 2 },
    { at: startNs + STEP_NS, bytesPerSecond: 0, problems: 0 },
  ];
  assert.deepEqual(await history(), points);
  assert.deepEqual(await history({ limit: 1, offset: 1 }), points.slice(1));
  clock.atNs = startNs + 7n * DAY_NS + 1n;
  await noteAgentPoints(deps);
  assert.deepEqual(await history(), points.slice(1));
});

test("a status in a shape that no agent sends does not keep the points of others from being written", async () => {
  const odd = await startAgent(cloud, "odd");
  await deps.db.prisma.agent.update({ where: { deviceId: odd.deviceId }, data: { status: [1] } });
  await say(1, [2 ** 53 - 1, 2 ** 53 - 1]);
  await noteAgentPoints(deps);
  assert.equal((await history()).at(-1)!.bytesPerSecond, 2 * (2 ** 53 - 1));
  assert.deepEqual(await admin.call(api.devices.listAgentHistory, { nameOrId: "odd" }), []);
});

slowTest("an edge site's agent has its history too, for keys of the whole organization", async () => {
  const site = await admin.call(api.sites.create, { name: "shared", type: "edge" });
  const { token } = await admin.call(api.siteTokens.create, { siteId: site.id });
  const { call } = await sayHello(cloud, { deviceId: "", token: token! });
  const { id } = site;
  const ofSite = (client = admin, page = {}) => client.call(api.sites.listAgentHistory, { id, ...page });
  assert.deepEqual(await ofSite(), []);
  await call(api.edge.status, { files: {}, disk: { totalBytes: 10, freeBytes: 4 }, problems: [], transfers: [] });
  await noteAgentPoints(deps);
  const [point, ...others] = await ofSite();
  assert.deepEqual([point!.freeBytes, point!.problems, others], [4, 0, []]);
  assert.deepEqual(await ofSite(admin, { offset: 1 }), []);
  const { projectId } = await admin.call(api.devices.get, { nameOrId: "robot" });
  const limited = cloud.withToken(await cloud.addKey(["sites.list"], [projectId]));
  await assert.rejects(ofSite(limited), refusedWith("ProjectLimited"));
  await assert.rejects(ofSite(await cloud.otherOrganization()), refusedWith(404));
});

test("another organization's devices have no history here", async () => {
  const refused = (await cloud.otherOrganization()).call(api.devices.listAgentHistory, { nameOrId: agent.deviceId });
  await assert.rejects(refused, refusedWith(404));
});
