import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, type Operation, pathParameters, sessionRoutes } from "@downlink/protocol";
import { eventually, slowTest } from "@downlink/recordings/testing";
import { defaultLimits } from "../../process/limits/limits.ts";
import { readExamples } from "../../testing/example-bodies.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { yieldInSteps } from "../connections/yield-in-steps.ts";

const oneAtOnce = { atOnce: 1, perOwner: 1, waiting: 0, waitMs: 30_000 };
const limits = { turns: { ...defaultLimits.turns, lists: oneAtOnce } };
const cloud = await startCloud({ after }, { works: false, limits });
const { orgId } = await cloud.admin.call(api.devices.create, { name: "robot" });
const exampleOf = await readExamples(cloud.url);
const { lists } = cloud.deps.turns;
const never = () => new AbortController().signal;

async function isHeldUp(operation: Operation): Promise<boolean> {
  const response = await fetch(`${cloud.url}${pathOf(operation)}?${requiredQuery(operation)}`, {
    method: operation.method.toUpperCase(),
    headers: { "content-type": "application/json", authorization: `Bearer ${cloud.adminKey}` },
    ...(operation.body && { body: JSON.stringify(exampleOf(operation)) }),
  });
  const text = await response.text();
  return response.status === 503 && text.includes("large reads");
}

function pathOf({ path }: Operation): string {
  return pathParameters(path).reduce(
    (text, name) => text.replace(`{${name}}`, name === "versionNumber" ? "1" : "x"),
    path,
  );
}

function requiredQuery({ query }: Operation): string {
  const required = Object.entries(query?.shape ?? {}).filter(([, schema]) => !schema.safeParse(undefined).success);
  const values: Record<string, string> = { start: "2026-01-01", end: "2026-01-02", version: "1", binNs: "1000" };
  return new URLSearchParams(Object.fromEntries(required.map(([name]) => [name, values[name] ?? "x"]))).toString();
}

for (const [resource, operations] of Object.entries(api))
  for (const [name, operation] of Object.entries(operations as Record<string, Operation>)) {
    if (operation.access.kind !== "apiKey") continue;
    const { isExpensive, query, response, method } = operation;
    const isList = method === "get" && response?.def.type === "array";
    const isPage = query !== undefined && "limit" in query.shape;
    const takesTurn = isList || isPage || isExpensive === true;

    test(`${resource}.${name} ${takesTurn ? "takes its turn among large reads" : "waits for no large read"}`, async () => {
      using _held = await lists.take({ owner: orgId }, never);
      assert.equal(await isHeldUp(operation), takesTurn);
    });
  }

slowTest("every call with a key waits for its turn among calls, and who signs in does not", async (t) => {
  const turns = { ...defaultLimits.turns, calls: oneAtOnce };
  const { url, adminKey, deps } = await startCloud(t, { works: false, limits: { turns } });
  using _held = await deps.turns.calls.take({ owner: "another" }, never);
  const headers = { authorization: `Bearer ${adminKey}`, "content-type": "application/json" };
  const statusOf = async (path: string, method: string) => {
    const response = await fetch(`${url}${path}`, { method, headers });
    await response.text();
    return response.status;
  };
  for (const operation of Object.values(api).flatMap((operations) => Object.values<Operation>(operations)))
    if (operation.access.kind === "apiKey")
      assert.equal(await statusOf(pathOf(operation), operation.method.toUpperCase()), 503, operation.path);
  assert.equal(await statusOf(sessionRoutes.begin.path, "POST"), 403);
});

test("a list that waits for its turn is answered, even if the process is told to stop meanwhile", async (t) => {
  const turns = { ...defaultLimits.turns, lists: { ...oneAtOnce, waiting: 1 } };
  const { deps, admin } = await startCloud(t, { works: false, limits: { turns } });
  const device = await admin.call(api.devices.create, { name: "robot" });
  const held = await deps.turns.lists.take({ owner: "another" }, never);
  const asked = admin.call(api.devices.list, {});
  await eventually(
    async () => deps.turns.lists.countOf(device.orgId),
    (count) => count === 1,
  );
  deps.beginStopping();
  held[Symbol.dispose]();
  assert.deepEqual(await asked, [device]);
});

test("of a list that is sent in batches each batch takes a turn, and a list that has begun is not refused", async () => {
  const taken: boolean[] = [];
  async function* batches(): AsyncGenerator<string, void, number> {
    const shown = yield "a";
    yield `b${shown}`;
  }
  const steps = yieldInSteps(batches(), async ({ hasBegun }) => {
    taken.push(hasBegun);
    return lists.take({ owner: orgId, hasBegun }, never);
  });
  assert.equal((await steps.next(0)).value, "a");
  const held = await lists.take({ owner: "another" }, never);
  const next = steps.next(7);
  held[Symbol.dispose]();
  assert.equal((await next).value, "b7");
  assert.equal((await steps.next(0)).done, true);
  assert.deepEqual(taken, [false, true, true]);
});
