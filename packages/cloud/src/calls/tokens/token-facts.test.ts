import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Client } from "@downlink/client";
import { api, LEASE_HEADER } from "@downlink/protocol";
import { Browser } from "../../organization/sign-in/testing/browser.ts";
import { NotedTokenUses } from "../../process/credentials/token-uses.ts";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { helloBody, sha256 } from "../../testing/test-agent.ts";
import { createStoppedClock } from "../../testing/test-clock.ts";

const MINUTE_NS = 60_000_000_000n;
const clock = createStoppedClock(1_800_000_000_000_000_000n);
const cloud = await startCloud({ after }, { works: false, clock });
const { admin, deps } = cloud;
const me = (await admin.call(api.apiKeys.list, {}))[0]!;
const device = await admin.call(api.devices.create, { name: "robot" });
const edgeSite = await admin.call(api.sites.create, { name: "depot", type: "edge" });
const selfHosted = await admin.call(api.sites.create, { name: "own", type: "self-hosted" });

interface Token {
  readonly id: string;
  readonly token?: string | undefined;
}

/** Every kind of token: how it is made, and how it is listed. */
const kinds = {
  "an API key": {
    make: (expiresAt?: bigint, client: Client = admin) =>
      client.call(api.apiKeys.create, { name: "k", capabilities: ["devices.list"], expiresAt }),
    list: () => admin.call(api.apiKeys.list, {}),
  },
  "a device token": {
    make: (expiresAt?: bigint, client: Client = admin) =>
      client.call(api.deviceTokens.create, { deviceId: device.id, expiresAt }),
    list: () => admin.call(api.deviceTokens.list, {}),
  },
  "a site token": {
    make: (expiresAt?: bigint, client: Client = admin) =>
      client.call(api.siteTokens.create, { siteId: edgeSite.id, expiresAt }),
    list: () => admin.call(api.siteTokens.list, {}),
  },
  "an inbox notification token": {
    make: (expiresAt?: bigint, client: Client = admin) =>
      client.call(api.inboxTokens.create, { siteId: selfHosted.id, expiresAt }),
    list: () => admin.call(api.inboxTokens.list, {}),
  },
};

const listed = async ({ list }: { list(): Promise<readonly Token[]> }, { id }: Token) =>
  (await list()).find((token) => token.id === id)!;

for (const [name, kind] of Object.entries(kinds)) {
  test(`${name} shows its last four characters and who made it, when it is made and afterwards`, async () => {
    const { token, ...made } = await kind.make();
    assert.equal(made.hint, token!.slice(-4));
    assert.deepEqual(made.createdBy, { kind: "apiKey", id: me.id, name: "admin" });
    assert.deepEqual([made.lastUsedAt, made.expiresAt], [undefined, undefined]);
    assert.deepEqual(await listed(kind, made), made);
  });

  test(`${name} may end at a time in the future; what is made by a key that ends, ends no later`, async () => {
    const expiresAt = clock.atNs + 10n * MINUTE_NS;
    assert.equal((await kind.make(expiresAt)).expiresAt, expiresAt);
    await assert.rejects(kind.make(clock.atNs), refusedWith(400));
    const ending = await admin.call(api.apiKeys.create, { name: "ending", capabilities: ["*"], expiresAt });
    const byEnding = cloud.withToken(ending.token!);
    assert.equal((await kind.make(undefined, byEnding)).expiresAt, expiresAt);
    assert.equal((await kind.make(expiresAt + 1n, byEnding)).expiresAt, expiresAt);
    assert.equal((await kind.make(expiresAt - 1n, byEnding)).expiresAt, expiresAt - 1n);
  });
}

test("a key is refused from its end on, and so is an agent's token", async () => {
  const expiresAt = clock.atNs + MINUTE_NS;
  const key = cloud.withToken((await kinds["an API key"].make(expiresAt)).token!);
  const agent = cloud.withToken((await kinds["a device token"].make(expiresAt)).token!);
  clock.atNs = expiresAt - 1n;
  await key.call(api.devices.list, {});
  const { lease } = await agent.call(api.edge.hello, helloBody());
  const headers = { [LEASE_HEADER]: String(lease) };
  await agent.call(api.edge.status, { files: {}, problems: [] }, { headers });
  clock.atNs = expiresAt;
  await assert.rejects(agent.call(api.edge.status, { files: {}, problems: [] }, { headers }), refusedWith(401));
  await assert.rejects(key.call(api.devices.list, {}), refusedWith(401));
  await assert.rejects(agent.call(api.edge.hello, helloBody()), refusedWith(401));
});

test("the last key that may do everything cannot be replaced by one that ends", async () => {
  const other = await cloud.otherOrganization();
  const [own] = await other.call(api.apiKeys.list, {});
  await other.call(api.apiKeys.create, { name: "ends", capabilities: ["*"], expiresAt: clock.atNs + MINUTE_NS });
  await assert.rejects(other.call(api.apiKeys.delete, { id: own!.id }), refusedWith(409));
  await other.call(api.apiKeys.create, { name: "stays", capabilities: ["*"] });
  await other.call(api.apiKeys.delete, { id: own!.id });
});

test("the last use of a token is stored to the minute; calls write nothing, and all uses are written at once", async (t) => {
  const kind = kinds["an API key"];
  const made = await kind.make();
  const client = cloud.withToken(made.token!);
  const regularFlush = t.mock.method(deps.tokenUses, "flush", async () => {}); // the regular write must not fall between the calls
  clock.atNs += 61_000_000_000n - (clock.atNs % MINUTE_NS);
  for (let call = 0; call < 20; call++) await client.call(api.devices.list, {});
  await assert.rejects(client.call(api.projects.list, {}), refusedWith(403));
  assert.equal(((await listed(kind, made)) as typeof made).lastUsedAt, undefined, "nothing is written with a call");
  regularFlush.mock.restore();
  await deps.tokenUses.flush();
  const usedAt = clock.atNs - (clock.atNs % MINUTE_NS);
  assert.equal(((await listed(kind, made)) as typeof made).lastUsedAt, usedAt);
  const [row] = await deps.db.prisma.$queryRaw<{ xmin: string }[]>`
    SELECT xmin::text FROM "Credential" WHERE "apiKeyId" = ${made.id}`;
  await client.call(api.devices.list, {});
  await deps.tokenUses.flush();
  const again = await deps.db.prisma.$queryRaw`SELECT xmin::text FROM "Credential" WHERE "apiKeyId" = ${made.id}`;
  assert.deepEqual(again, [row], "of the same minute nothing is written again");
});

test("a key that a person signed in with is used by that, and as long as the session goes on", async () => {
  const kind = kinds["an API key"];
  const made = await kind.make();
  const lastUse = async () => ((await listed(kind, made)) as typeof made).lastUsedAt;
  const minute = () => clock.atNs - (clock.atNs % MINUTE_NS);
  const browser = new Browser(cloud);
  assert.equal((await browser.signIn({ apiKey: made.token! })).status, 200);
  await deps.tokenUses.flush();
  assert.equal(await lastUse(), minute());
  clock.atNs += 5n * MINUTE_NS;
  assert.equal((await browser.ask({ method: "GET", path: "/v1/devices" })).status, 200);
  assert.equal(await lastUse(), minute());
});

test("a process whose clock is behind does not undo a later use, and noted uses are written when it ends", async () => {
  const made = await kinds["an API key"].make();
  const noted = async (atNs: bigint) => {
    await using uses = new NotedTokenUses({ ...deps, clock: createStoppedClock(atNs) });
    uses.note(sha256(made.token!));
    uses.note("of no token");
  };
  await noted(10n * MINUTE_NS);
  await noted(9n * MINUTE_NS);
  const { lastUsedAtNs } = await deps.db.prisma.credential.findUniqueOrThrow({ where: { apiKeyId: made.id } });
  assert.equal(lastUsedAtNs, 10n * MINUTE_NS);
});

test("a token that an agent made for itself shows the token that it was made with, and none of its own characters", async () => {
  const approving = await admin.call(api.deviceTokens.create, { projectId: device.projectId, preapproved: true });
  const body = { enrolmentId: "e".repeat(20), tokenSha256: sha256("secret"), deviceName: "enrolled" };
  const { device: enrolled } = await cloud.withToken(approving.token!).call(api.edge.enroll, body);
  const [token] = await admin.call(api.deviceTokens.list, { deviceId: enrolled.id });
  assert.deepEqual([token!.createdBy, token!.hint], [{ kind: "deviceToken", id: approving.id }, undefined]);
});
