import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, type CallInput } from "@downlink/protocol";
import { startCloud } from "../../testing/start-cloud.ts";
import { startAgent } from "../../testing/test-agent.ts";
import { createStoppedClock } from "../../testing/test-clock.ts";

const clock = createStoppedClock(1_800_000_000_000_000_000n);
const cloud = await startCloud({ after }, { works: false, clock });
const { admin } = cloud;
const { prisma } = cloud.deps.db;
const other = await cloud.otherOrganization();

type Query = CallInput<typeof api.devices.list>;
const names = async (query: Query, client = admin) =>
  (await client.call(api.devices.list, query)).map(({ name }) => name);

/** The last report of each agent, in the order in which they arrived. */
const reports = [
  ["rover-7", { freeBytes: 900, problems: 0 }],
  ["Rover-8", { freeBytes: 1000, problems: 2 }],
  ["arm.1", { freeBytes: 20, problems: 10 }],
  ["no-disk", { freeBytes: undefined, problems: 1 }],
] as const;
for (const [name, { freeBytes, problems }] of reports) {
  clock.atNs += 1_000_000_000n;
  const agent = await startAgent(cloud, name);
  await agent.call(api.edge.status, {
    files: {},
    disk: freeBytes === undefined ? undefined : { totalBytes: 2000, freeBytes },
    problems: Array.from({ length: problems }, (_, i) => ({ code: `P${i}`, text: "", since: 0n })),
  });
}
const odd = await startAgent(cloud, "odd");
await prisma.agent.update({ where: { deviceId: odd.deviceId }, data: { status: [1], lastSeenAtNs: 5n } });
await admin.call(api.devices.create, { name: "silent" });

test("`nameMatches` finds a part of a name of any length in upper or lower case, taken literally, in the caller's organization", async () => {
  assert.deepEqual(await names({ nameMatches: "ROVER" }), ["rover-7", "Rover-8"]);
  assert.deepEqual(await names({ nameMatches: "er-7" }), ["rover-7"]);
  assert.deepEqual(await names({ nameMatches: "8" }), ["Rover-8"]);
  assert.deepEqual(await names({ nameMatches: "M." }), ["arm.1"]);
  for (const nameMatches of ["%", "_", "r_ver", "rover-7x"]) assert.deepEqual(await names({ nameMatches }), []);
  assert.equal((await names({ nameMatches: "" })).length, 6);
  assert.deepEqual(await names({ nameMatches: "rover" }, other), []);
  assert.deepEqual(await names({ nameMatches: "rover", limit: 1, offset: 1 }), ["Rover-8"]);
});

test("devices are sorted by what their agents last reported; those without a report come last either way", async () => {
  const sorted = async (sortBy: NonNullable<Query["sortBy"]>) => [
    await names({ sortBy }),
    await names({ sortBy, sortOrder: "desc" }),
  ];
  const seen = ["odd", "rover-7", "Rover-8", "arm.1", "no-disk"];
  assert.deepEqual(await sorted("lastSeenAt"), [
    [...seen, "silent"],
    [...seen.toReversed(), "silent"],
  ]);
  const inTrouble = ["rover-7", "no-disk", "Rover-8", "arm.1"];
  assert.deepEqual(await sorted("problems"), [
    [...inTrouble, "odd", "silent"],
    [...inTrouble.toReversed(), "silent", "odd"],
  ]);
  const free = ["arm.1", "rover-7", "Rover-8"];
  assert.deepEqual(await sorted("freeBytes"), [
    [...free, "no-disk", "odd", "silent"],
    [...free.toReversed(), "silent", "odd", "no-disk"],
  ]);
});

test("an unknown order is 400", async () => {
  const headers = { authorization: `Bearer ${cloud.adminKey}` };
  for (const sortBy of ["lastSeenAtNs", "status", "agent"])
    assert.equal((await fetch(`${cloud.url}/v1/devices?sortBy=${sortBy}`, { headers })).status, 400);
});
