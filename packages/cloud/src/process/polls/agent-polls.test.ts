import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { type ClientRequest, Agent as HttpAgent, type IncomingMessage, request } from "node:http";
import { after, test } from "node:test";
import { api, INCARNATION_HEADER, LEASE_HEADER } from "@downlink/protocol";
import { eventually, slowTest } from "@downlink/recordings/testing";
import { refusedWith } from "../../testing/refused-with.ts";
import { seedFleet } from "../../testing/seed-fleet.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { askForFile, sayHello, startAgent, type TestAgent } from "../../testing/test-agent.ts";

const cloud = await startCloud({ after }, { works: false });
const { prisma, pool } = cloud.deps.db;
const { polls } = cloud.deps;
const sockets = new HttpAgent({ keepAlive: true });
after(() => sockets.destroy());
const leaseOf = ({ deviceId }: TestAgent) => prisma.agent.findUniqueOrThrow({ where: { deviceId } });

/** Starts a poll of 30 s that has nothing new to answer, and returns once it waits. */
async function startPoll(agent: TestAgent, more: { etag?: string } = {}) {
  const { etag } = more.etag === undefined ? await agent.call(api.edge.work, {}) : { etag: more.etag };
  const before = polls.waiting(agent.deviceId);
  const answered = agent.call(api.edge.work, { wait: 30, etag });
  answered.catch(() => {});
  await untilWaiting(agent.deviceId, before + 1);
  return { etag, answered };
}

async function untilWaiting(deviceId: string, count: number): Promise<void> {
  await eventually(
    async () => polls.waiting(deviceId),
    (waiting) => waiting === count,
  );
}

test("waiting agents cost no query of their own, and neither does the answer that nothing changed", async () => {
  const fleet = await seedFleet(pool, 40);
  const agents = await Promise.all(fleet.map((device) => sayHello(cloud, device)));
  const etags = await Promise.all(agents.map(async ({ call }) => (await call(api.edge.work, {})).etag));
  const counted = { connections: 0 };
  const answered = agents.map(({ call }, at) => call(api.edge.work, { wait: 2, etag: etags[at] }));
  await eventually(
    async () => fleet.filter(({ deviceId }) => polls.waiting(deviceId) === 1).length,
    (waiting) => waiting === fleet.length,
  );
  pool.on("acquire", () => counted.connections++);
  const answers = await Promise.all(answered);
  pool.removeAllListeners("acquire");
  assert.deepEqual(
    answers.map(({ etag }) => etag),
    etags,
  );
  assert.ok(counted.connections < fleet.length / 4, `${counted.connections} times the database was asked`);
});

slowTest("a poll renews the lease at its beginning, without a report or a heartbeat", async () => {
  const agent = await startAgent(cloud, "renewed-by-poll");
  const { etag } = await agent.call(api.edge.work, {});
  await prisma.agent.update({ where: { deviceId: agent.deviceId }, data: { leaseExpiresAtNs: 1n, isOnline: false } });
  const { answered } = await startPoll(agent, { etag });
  const renewed = await eventually(
    () => leaseOf(agent),
    ({ isOnline }) => isOnline,
  );
  assert.ok(renewed.leaseExpiresAtNs > cloud.deps.clock.nowNs());
  assert.equal(renewed.leaseNumber, BigInt(agent.hello.lease));
  await prisma.device.update({ where: { id: agent.deviceId }, data: { autoDeleteAfterImport: true } });
  await answered;
});

slowTest(
  "a poll under a lease that another process has got is refused, even if nothing is known to have changed",
  async () => {
    const agent = await startAgent(cloud, "ousted");
    const { etag } = await agent.call(api.edge.work, {});
    await sayHello(cloud, { ...agent, lease: agent.hello.lease, instanceId: "the-process-that-took-over" });
    assert.ok(polls.works.of(agent.deviceId), "the work is known");
    await assert.rejects(agent.call(api.edge.work, { wait: 30, etag }), refusedWith("LeaseLost"));
  },
);

slowTest("a change that comes while the work is being read is not missed", async () => {
  const asked = await askForFile(cloud, "raced");
  const { agent, requestId } = asked;
  for (let priority = 1; priority <= 20; priority++) {
    const { etag } = await agent.call(api.edge.work, {});
    const [{ work }] = await Promise.all([
      agent.call(api.edge.work, { wait: 30, etag }),
      prisma.importRequest.update({ where: { id: requestId }, data: { priority } }),
    ]);
    assert.equal(work.imports[0]?.priority, priority);
  }
});

slowTest(
  "an answer after the wait has the headers of every answer, names the incarnation, and its connection stays usable",
  async () => {
    const agent = await startAgent(cloud, "bare");
    const { etag } = await agent.call(api.edge.work, {});
    const id = randomUUID();
    const get = async (query: string) => {
      const headers = { authorization: `Bearer ${agent.token}`, [LEASE_HEADER]: agent.hello.lease, "x-request-id": id };
      const sent = request(`${cloud.url}/v1/edge/work?${query}`, { headers, agent: sockets }).end();
      const [response] = (await once(sent, "response")) as [IncomingMessage];
      const body = JSON.parse((await response.toArray()).join("")) as { etag: string };
      return { response, body, port: sent.socket!.localPort };
    };
    const [atOnce, waited] = [await get("wait=0"), await get(`wait=1&etag=${etag}`)];
    assert.deepEqual(waited.body, atOnce.body);
    assert.equal(waited.port, atOnce.port, "a waiting agent holds one socket");
    const shown = ({ headers }: IncomingMessage) =>
      Object.fromEntries(Object.entries(headers).filter(([name]) => name !== "date" && name !== "ratelimit"));
    assert.deepEqual(shown(waited.response), shown(atOnce.response));
    assert.equal(waited.response.headers[INCARNATION_HEADER], agent.hello.incarnation);
  },
);

test("a poll whose caller went away is forgotten", async () => {
  const { agent, open } = await startPolls("gone");
  const left = open();
  await untilWaiting(agent.deviceId, 1);
  left.destroy();
  await untilWaiting(agent.deviceId, 0);
});

test("an agent's new poll ends its oldest one, which a cut network may have left behind", async () => {
  const { agent, open } = await startPolls("cut");
  const oldest = open();
  await untilWaiting(agent.deviceId, 1);
  const others = [open(), open(), open()];
  await untilWaiting(agent.deviceId, 4);
  const answered = once(oldest, "response") as Promise<[IncomingMessage]>;
  const latest = open();
  assert.equal((await answered)[0].statusCode, 200);
  await untilWaiting(agent.deviceId, 4);
  for (const one of [...others, latest]) one.destroy();
  await untilWaiting(agent.deviceId, 0);
});

slowTest(
  "of 500 polls of one token at once few wait, and all others are refused without a turn and without a query",
  async (t) => {
    const { agent, open } = await startPolls("crowd");
    const first = Array.from({ length: 4 }, open);
    await untilWaiting(agent.deviceId, 4);
    const queried = t.mock.method(pool, "query");
    const connected = t.mock.method(pool, "connect");
    const retryAfter: (string | undefined)[] = [];
    const note = ({ statusCode, headers }: IncomingMessage) => {
      if (statusCode === 429) retryAfter.push(headers["retry-after"]);
    };
    const more = Array.from({ length: 500 }, () => open().on("response", note));
    await eventually(
      async () => retryAfter.length,
      (refused) => refused >= 470, // one more is let in each second
    );
    assert.ok(retryAfter.every((seconds) => seconds === "5"));
    const asked = queried.mock.callCount() + connected.mock.callCount();
    assert.ok(asked < 100, `${asked} queries for 500 polls`);
    assert.equal(cloud.deps.turns.agents.countOf(`Bearer ${agent.token}`), 0);
    for (const one of [...first, ...more]) one.destroy();
    await untilWaiting(agent.deviceId, 0);
  },
);

/** Starts polls of one agent for 30 s, with nothing new to answer, each over a connection of its own. */
async function startPolls(name: string) {
  const agent = await startAgent(cloud, name);
  const { etag } = await agent.call(api.edge.work, {});
  const headers = { authorization: `Bearer ${agent.token}`, [LEASE_HEADER]: agent.hello.lease };
  const open = (): ClientRequest =>
    request(`${cloud.url}/v1/edge/work?wait=30&etag=${etag}`, { headers })
      .on("error", () => {})
      .end();
  return { agent, open };
}
