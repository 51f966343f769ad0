import assert from "node:assert/strict";
import { connect } from "node:net";
import { after, test } from "node:test";
import { eventually } from "@downlink/recordings/testing";
import { hashToken } from "../../process/credentials/mint.ts";
import type { FairTurns } from "../../process/limits/fair-turns.ts";
import { defaultLimits } from "../../process/limits/limits.ts";
import { startCloud } from "../../testing/start-cloud.ts";

const one = { atOnce: 1, perOwner: 1, waiting: 100, waitMs: 30_000 };
const turns = { ...defaultLimits.turns, calls: { ...one, atOnce: 10, perOwner: 10 }, lists: one, links: one };
const cloud = await startCloud({ after }, { works: false, limits: { turns } });
const never = () => new AbortController().signal;
const faults: unknown[] = [];
for (const level of ["warn", "error"] as const) cloud.deps.log[level] = (...said: unknown[]) => void faults.push(said);

async function statusesOf(): Promise<Record<string, number>> {
  const { values } = await cloud.deps.metrics.requests.get();
  const counts: Record<string, number> = {};
  for (const { labels, value } of values) counts[labels.status!] = (counts[labels.status!] ?? 0) + value;
  return counts;
}

/** Calls ten times, hangs up once all of them wait for a turn, and returns by which statuses that was counted. */
async function hangUp(waitsFor: FairTurns, owner: string, call: (signal: AbortSignal) => Promise<unknown>) {
  const before = await statusesOf();
  using held = new DisposableStack();
  const holds = waitsFor === cloud.deps.turns.calls ? 10 : 1;
  for (let count = 0; count < holds; count++) held.use(await waitsFor.take({ owner }, never));
  const hanging = new AbortController();
  const calls = Array.from({ length: 10 }, () => call(hanging.signal));
  await eventually(
    async () => waitsFor.countOf(owner),
    (count) => count === holds + 10,
  );
  hanging.abort();
  await Promise.allSettled(calls);
  const counted = async () => {
    const now = Object.entries(await statusesOf());
    return Object.fromEntries(now.filter(([name, count]) => count !== before[name]));
  };
  return await eventually(counted, (found) => Object.keys(found).length > 0 && waitsFor.countOf(owner) === holds);
}

const headers = { authorization: `Bearer ${cloud.adminKey}` };
const { calls, lists, links, passwords } = cloud.deps.turns;

test("a caller that hangs up while it waits for a turn is no fault: no 500, and no line in the log", async () => {
  const ofToken = await hangUp(calls, hashToken(cloud.adminKey), (signal) =>
    fetch(`${cloud.url}/v1/me`, { headers, signal }),
  );
  assert.deepEqual(Object.keys(ofToken), ["499"]);
  const { orgId } = (await (await fetch(`${cloud.url}/v1/me`, { headers })).json()) as { orgId: string };
  const ofList = await hangUp(lists, orgId, (signal) => fetch(`${cloud.url}/v1/devices`, { headers, signal }));
  assert.deepEqual(Object.keys(ofList), ["499"]);
  const link = `${cloud.url}/data-plane/objects/a?s=${"a".repeat(43)}`;
  const ofLink = await hangUp(links, "a".repeat(42), (signal) => fetch(link, { signal }));
  assert.deepEqual(Object.keys(ofLink), ["499"]);
  assert.deepEqual(faults, []);
});

test("neither is one that hangs up before its password was checked", async () => {
  let tried = 0;
  const signIn = (signal: AbortSignal) => {
    const body = JSON.stringify({ email: `gone-${++tried}@example.org`, password: "wrong" });
    const own = { origin: cloud.url, "content-type": "application/json" };
    return fetch(`${cloud.url}/v1/session`, { method: "POST", body, headers: own, signal });
  };
  assert.deepEqual(Object.keys(await hangUp(passwords, "127.0.0.1 strangers", signIn)), ["499"]);
  assert.deepEqual(faults, []);
});

test("neither is one that hangs up in the middle of its body", async () => {
  for (const end of ["destroy", "resetAndDestroy"] as const) {
    const before = (await statusesOf())["499"] ?? 0;
    const socket = connect(Number(new URL(cloud.url).port), "127.0.0.1");
    const head = [
      "POST /v1/devices HTTP/1.1",
      "Host: a",
      `Authorization: Bearer ${cloud.adminKey}`,
      "Content-Length: 100",
    ];
    socket.write([...head, "Content-Type: application/json", "", '{"name":'].join("\r\n"));
    await eventually(
      async () => calls.countOf(hashToken(cloud.adminKey)),
      (count) => count === 1,
    );
    socket[end]();
    await eventually(async () => (await statusesOf())["499"] === before + 1, Boolean);
  }
  assert.deepEqual(faults, []);
  assert.ok(!Object.keys(await statusesOf()).some((status) => status.startsWith("5")));
});
