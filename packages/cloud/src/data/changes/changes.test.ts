import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, type CallInput, type Changes, MAX_CHANGES, MAX_WAITING_CHANGES } from "@downlink/protocol";
import { slowTest } from "@downlink/recordings/testing";
import { writeEvent } from "../../background/outbox/outbox.ts";
import { newId } from "../../db/ids.ts";
import { withTransaction } from "../../db/transaction.ts";
import { Browser } from "../../organization/sign-in/testing/browser.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { createTestDatabase } from "../../testing/test-database.ts";

const environment = { DATABASE_URL: await createTestDatabase({ after }) };
const cloud = await startCloud({ after }, { works: false, environment });
const { adminKey: DOWNLINK_ADMIN_KEY, dataDir } = cloud;
const replica = await startCloud(
  { after },
  { works: false, dataDir, environment: { ...environment, DOWNLINK_ADMIN_KEY } },
);
const { admin } = cloud;
const span = { start: 1n, end: 2n };
const { id: deviceId, projectId } = await admin.call(api.devices.create, { name: "robot" });

const ask = (input: CallInput<typeof api.changes.list>, client = admin) => client.call(api.changes.list, input);
const mark = () => admin.call(api.events.create, { deviceId, ...span });
const idsOf = ({ changes }: Changes) => changes.map(({ kind, id }) => `${kind} ${id}`);
const WAIT = 25;

/**
 * Asks until so many changes were heard, and returns their ids. A change is listed once every transaction that began before its own has
 * ended, also those of other tests in other databases of the same server.
 */
async function hear(since: string, { count, client = admin }: { count: number; client?: typeof admin }) {
  const ids: string[] = [];
  let next = since;
  while (ids.length < count) {
    const heard = await ask({ since: next, waitSeconds: WAIT }, client);
    ids.push(...idsOf(heard));
    next = heard.next;
  }
  return { ids, next };
}

/** Returns a place behind all that was changed so far. */
async function now(): Promise<string> {
  const { next } = await ask({});
  const { id } = await mark();
  for (let place = next; ; ) {
    const heard = await ask({ since: place, waitSeconds: WAIT });
    place = heard.next;
    if (idsOf(heard).includes(`event ${id}`)) return place;
  }
}

/** Opens a stream, and reads its messages one after another. */
async function stream(url: string, headers: Record<string, string>) {
  const controller = new AbortController();
  after(() => controller.abort());
  const answer = await fetch(`${url}/v1/changes`, {
    headers: { accept: "text/event-stream", ...headers },
    signal: controller.signal,
  });
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  return {
    answer,
    close: () => controller.abort(),
    /** Returns the next message; undefined once the stream has ended. */
    async next(): Promise<{ id: string; data: { changes: { id: string }[]; next: string } } | undefined> {
      for (;;) {
        const end = text.indexOf("\n\n");
        if (end < 0) {
          const { value, done } = await reader.read();
          if (done) return undefined;
          text += value;
          continue;
        }
        const [, id, data] = /^id: (.+)\ndata: (.+)$/s.exec(text.slice(0, end)) ?? [];
        text = text.slice(end + 2);
        if (id && data) return { id, data: JSON.parse(data) };
      }
    },
  };
}

/** Returns the ids of the next changes. A stream begins with a message without any while an older transaction holds them back. */
async function nextChanges({ next }: Awaited<ReturnType<typeof stream>>): Promise<string[]> {
  for (;;) {
    const { changes } = (await next())!.data;
    if (changes.length > 0) return changes.map(({ id }) => id);
  }
}

test("who waits hears of a change at whatever process it is made, each thing once, and of none twice", async () => {
  const since = await now();
  const waiting = replica.withToken(cloud.adminKey).call(api.changes.list, { since, waitSeconds: WAIT });
  const event = await mark();
  const heard = await waiting;
  assert.deepEqual(heard.changes, [{ kind: "event", id: event.id, projectId }]);
  await admin.call(api.events.update, { id: event.id, end: 3n });
  await admin.call(api.events.update, { id: event.id, end: 4n });
  const again = await hear(heard.next, { count: 1 });
  assert.deepEqual(new Set(again.ids), new Set([`event ${event.id}`]));
  assert.deepEqual(idsOf(await ask({ since: await now() })), []);
});

slowTest("a change that commits late is heard of by who has heard of later ones", async () => {
  const since = await now();
  const begun = Promise.withResolvers<void>();
  const ending = Promise.withResolvers<void>();
  const late = withTransaction(cloud.deps.db, async (tx) => {
    const { orgId } = await tx.project.findUniqueOrThrow({ where: { id: projectId } });
    const payload = { event: { id: "late" } };
    await tx.outboxEvent.create({
      data: { id: newId("whev"), orgId, projectId, type: "event.created", payload, occurredAtNs: 0n },
    });
    begun.resolve();
    await ending.promise;
  });
  await begun.promise;
  const early = await mark();
  const before = await ask({ since });
  assert.deepEqual(idsOf(before), [], "the later one waits for it");
  ending.resolve();
  await late;
  const { ids } = await hear(before.next, { count: 2 });
  assert.deepEqual(ids.sort(), [`event ${early.id}`, "event late"].sort());
});

test("nobody hears of what it may not list: of other projects, kinds and organizations", async () => {
  const other = await admin.call(api.projects.create, { name: "other" });
  const everything = ["events.list", "devices.list", "recordings.list"] as const;
  const listeners = {
    project: cloud.withToken(await cloud.addKey(everything, [other.id])),
    kind: cloud.withToken(await cloud.addKey(["recordings.list"])),
    organization: await cloud.otherOrganization(),
    all: admin,
  };
  const since = await now();
  const event = await mark();
  const there = await admin.call(api.devices.create, { name: "there", projectId: other.id });
  await hear(since, { count: 2 });
  for (const [name, client] of Object.entries(listeners)) {
    const heard = idsOf(await ask({ since }, client));
    const expected = { all: [`event ${event.id}`, `device ${there.id}`], project: [`device ${there.id}`] };
    assert.deepEqual(heard, expected[name as "all"] ?? [], name);
  }
  const within = await ask({ since, projectId: other.id });
  assert.deepEqual(idsOf(within), [`device ${there.id}`]);
});

test("an event about what no change is listed for, such as a webhook of the project, is passed over", async () => {
  const since = await now();
  const { orgId } = await cloud.deps.db.prisma.project.findUniqueOrThrow({ where: { id: projectId } });
  const payload = { webhook: { id: "wh_1", name: "gone", disabledReason: "the receiver answered 410 Gone" } };
  await withTransaction(cloud.deps.db, (tx) =>
    writeEvent(tx, { type: "webhook.disabled", orgId, projectId, occurredAtNs: 0n, payload }),
  );
  const event = await mark();
  assert.deepEqual((await hear(since, { count: 1 })).ids, [`event ${event.id}`]);
});

slowTest("a page's stream resumes where it was cut, by a cookie; a member who was removed hears no more", async () => {
  const { link } = await admin.call(api.invitations.create, { email: "ann@example.org", role: "user" });
  const browser = new Browser(cloud);
  await browser.accept(link!);
  const { id } = (await browser.ask({ path: "/v1/me" })).json as { id: string };
  const headers = { cookie: browser.cookie! };
  await now();
  const first = await stream(cloud.url, headers);
  assert.match(first.answer.headers.get("content-type")!, /^text\/event-stream/);
  const { id: place } = (await first.next())!;
  first.close();
  const missed = await mark();
  const second = await stream(cloud.url, { ...headers, "last-event-id": place });
  assert.deepEqual(await nextChanges(second), [missed.id]);
  const live = await mark();
  assert.deepEqual(await nextChanges(second), [live.id]);
  await admin.call(api.members.delete, { id });
  await mark();
  assert.equal(await second.next(), undefined);
});

test("a caller has a limited number of calls that wait, and has its places again once they end", async () => {
  const token = await cloud.addKey(["events.list"]);
  const headers = { authorization: `Bearer ${token}` };
  const streams = await Promise.all(Array.from({ length: MAX_WAITING_CHANGES }, () => stream(cloud.url, headers)));
  const refused = await stream(cloud.url, headers);
  assert.equal(refused.answer.status, 429);
  assert.ok((await ask({}, cloud.withToken(token))).next);
  for (const { close } of streams) close();
  let status = 429;
  for (; status === 429; ) {
    const again = await stream(cloud.url, headers);
    status = again.answer.status;
    again.close();
  }
  assert.equal(status, 200);
});

slowTest(
  "who asks from a place of another database, or has missed too many changes, is told to read again",
  async () => {
    for (const since of ["nonsense", "1.1.elsewhere", `999999999999.${Math.floor(Date.now() / 1000)}.x`])
      assert.equal((await ask({ since })).isMissed, true, since);
    const since = await now();
    const { orgId } = await cloud.deps.db.prisma.project.findUniqueOrThrow({ where: { id: projectId } });
    const row = { orgId, projectId, type: "event.created", occurredAtNs: 0n };
    const data = Array.from({ length: MAX_CHANGES + 1 }, (_, n) => ({
      ...row,
      id: newId("whev"),
      payload: { event: { id: `evt_${n}` } },
    }));
    await cloud.deps.db.prisma.outboxEvent.createMany({ data });
    const answer = await ask({ since, waitSeconds: WAIT });
    assert.deepEqual([answer.isMissed, answer.changes], [true, []]);
    assert.equal((await ask({ since: answer.next })).isMissed, false);
  },
);
