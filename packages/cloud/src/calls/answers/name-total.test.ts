import assert from "node:assert/strict";
import { after, test } from "node:test";
import { TOTAL_HEADER } from "@downlink/protocol";
import { slowTest } from "@downlink/recordings/testing";
import { newId } from "../../db/ids.ts";
import { startCloud } from "../../testing/start-cloud.ts";

const cloud = await startCloud({ after }, { works: false });
const { prisma } = cloud.deps.db;
const { orgId, id: projectId } = await prisma.project.findFirstOrThrow();

async function list(path: string) {
  const answer = await fetch(`${cloud.url}/v1/${path}`, { headers: { authorization: `Bearer ${cloud.adminKey}` } });
  const rows = (await answer.json()) as { name: string }[];
  const { headers } = answer;
  return { count: rows.length, first: rows[0]?.name, total: headers.get(TOTAL_HEADER), next: headers.get("link") };
}

/** So many events, of 17 kB each, are more than what is sent at once. */
const LARGE = 66;
let made = 0;
async function addDevices(count: number) {
  const data = Array.from({ length: count }, () => ({
    id: newId("dev"),
    ...{
      orgId,
      projectId,
      name: `robot-${String(++made).padStart(5, "0")}`,
      createdAtNs: BigInt(made),
      updatedAtNs: 0n,
    },
  }));
  await prisma.device.createMany({ data });
}

test("a list that is not cut says how many it has, whatever part of it was asked for", async () => {
  assert.deepEqual(await list("devices"), { count: 0, first: undefined, total: "0", next: null });
  await addDevices(3);
  assert.deepEqual(await list("devices"), { count: 3, first: "robot-00001", total: "3", next: null });
  assert.equal((await list("devices?offset=2")).total, "3");
  assert.equal((await list("devices?limit=5&offset=1")).total, "3");
});

const onward = (query: string) => new RegExp(`^</v1/devices\\?${query}&cursor=[\\w.-]+>; rel="next"$`);

test("a page that is cut names the next one by its cursor, and whoever pages by themselves pays for no count", async () => {
  const { next, total } = await list("devices?limit=2&sortBy=name");
  assert.equal(total, null);
  assert.match(next!, onward("limit=2&sortBy=name"));
  const rest = next!.slice("</v1/".length, next!.indexOf(">"));
  assert.deepEqual(await list(rest), { count: 1, first: "robot-00003", total: null, next: null });
  assert.deepEqual((await list("devices?limit=3")).next, null);
  assert.deepEqual((await list("devices?limit=0")).next, null);
});

test("a list that is too large to be sent at once says how many it has, and names its next page", async () => {
  const device = await prisma.device.findFirstOrThrow();
  const data = Array.from({ length: LARGE }, (_, i) => ({
    ...{ id: newId("evt"), orgId, projectId, deviceId: device.id, metadata: { text: "x".repeat(17_000) } },
    ...{ startNs: 0n, endNs: BigInt(i), createdAtNs: 0n, updatedAtNs: 0n },
  }));
  await prisma.event.createMany({ data });
  const { count, total, next } = await list("events");
  assert.deepEqual([count, total, next], [LARGE, String(LARGE), null]);
  assert.notEqual((await list(`events?limit=${LARGE - 1}`)).next, null);
  assert.equal((await list(`events?limit=${LARGE}`)).next, null);
  await prisma.event.deleteMany();
});

slowTest("a list that is cut because no limit was given says so: exactly up to 10,000", async () => {
  await addDevices(1997);
  assert.deepEqual(await list("devices"), { count: 2000, first: "robot-00001", total: "2000", next: null });
  await addDevices(1);
  const { total, next } = await list("devices");
  assert.equal(total, "2001");
  assert.match(next!, onward("limit=2000"));
  await addDevices(1234);
  assert.equal((await list("devices")).total, "3235");
  assert.equal((await list("devices?offset=1500")).total, "3235");
  await addDevices(6765);
  assert.equal((await list("devices")).total, "10000");
  await addDevices(1);
  assert.equal((await list("devices")).total, "10000+");
});
