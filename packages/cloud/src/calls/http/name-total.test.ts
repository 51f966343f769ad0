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

test("a full page names the next one, and whoever pages by themselves pays for no count", async () => {
  const { next, total } = await list("devices?limit=2&sortBy=name");
  assert.deepEqual([next, total], ['</v1/devices?limit=2&sortBy=name&offset=2>; rel="next"', null]);
  assert.deepEqual((await list("devices?limit=0")).next, null);
});

slowTest("a list that is cut because no limit was given says so: exactly up to 10,000", async () => {
  await addDevices(1997);
  assert.deepEqual(await list("devices"), { count: 2000, first: "robot-00001", total: "2000", next: null });
  await addDevices(1);
  const { total, next } = await list("devices");
  assert.deepEqual([total, next], ["2001", '</v1/devices?limit=2000&offset=2000>; rel="next"']);
  await addDevices(1234);
  assert.equal((await list("devices")).total, "3235");
  assert.equal((await list("devices?offset=1500")).total, "3235");
  await addDevices(6765);
  assert.equal((await list("devices")).total, "10000");
  await addDevices(1);
  assert.equal((await list("devices")).total, "10000+");
});
