import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api } from "@downlink/protocol";
import { makeMcap } from "@downlink/recordings/testing";
import { newId } from "../../db/ids.ts";
import { withTransaction } from "../../db/transaction.ts";
import { mintToken } from "../../process/credentials/mint.ts";
import { sendRequest } from "../../testing/send-request.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { createRunningClock } from "../../testing/test-clock.ts";
import { putFile } from "../../testing/upload-file.ts";
import { createOrganization } from "../setup/organization.ts";
import { forgetOldAnswers } from "./kept-answers.ts";

const DAY_NS = 24n * 3600n * 1_000_000_000n;
const clock = createRunningClock();
const cloud = await startCloud({ after }, { works: false, clock });
const { prisma } = cloud.deps.db;

interface Post {
  readonly path?: string;
  readonly body?: unknown;
  readonly key?: string;
  readonly token?: string;
}

interface Answered {
  readonly status: number;
  readonly text: string;
  readonly body: Record<string, unknown>;
  readonly replayed: boolean;
}

/** Returns the admin key of another organization. */
async function otherToken(): Promise<string> {
  const token = mintToken("dl_sk");
  await withTransaction(cloud.deps.db, (tx) =>
    createOrganization(tx, { name: newId("org"), adminToken: token, nowNs: clock.nowNs() }),
  );
  return token;
}

async function post({ path = "/v1/devices", body = {}, key, token = cloud.adminKey }: Post): Promise<Answered> {
  const { status, text, headers } = await sendRequest(`${cloud.url}${path}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      ...(key !== undefined && { "Idempotency-Key": key }),
    },
    body: JSON.stringify(body),
  });
  const replayed = headers.get("idempotent-replayed") === "true";
  return { status, text, body: JSON.parse(text), replayed };
}

const newKey = () => newId("evt");

test("fifty repeats at the same moment create one device and all get its answer; connections stay free for others", async () => {
  const [key, name] = [newKey(), "once-1"];
  const repeats = Array.from({ length: 50 }, () => post({ key, body: { name } }));
  const others = Array.from({ length: 20 }, () => cloud.admin.call(api.devices.list, {}));
  const answers = await Promise.all(repeats);
  await Promise.all(others);
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
  assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
  assert.equal(answers.filter(({ replayed }) => !replayed).length, 1);
  assert.equal(await prisma.device.count({ where: { name } }), 1);
});

test("the same key with another body, or for another operation, is 409 and creates nothing", async () => {
  const key = newKey();
  await post({ key, body: { name: "once-2" } });
  for (const other of [{ body: { name: "once-2b" } }, { path: "/v1/projects", body: { name: "once-2" } }]) {
    const { status, body } = await post({ key, ...other });
    assert.deepEqual([status, body.code], [409, "IdempotencyConflict"]);
  }
  assert.equal(await prisma.device.count({ where: { name: "once-2b" } }), 0);
  const respaced = await post({ key, body: { ignored: 1, name: "once-2" } });
  assert.deepEqual([respaced.status, respaced.replayed], [200, true], "what is ignored makes no other request");
});

test("the same text as another caller's key is another key, in another organization and in this one", async () => {
  const key = newKey();
  const mine = await post({ key, body: { name: "once-3" } });
  const theirToken = await otherToken();
  const theirs = await post({ key, token: theirToken, body: { name: "once-3" } });
  const beside = await post({ key, token: await cloud.addKey(["devices.create"]), body: { name: "once-3b" } });
  assert.deepEqual([mine.status, theirs.status, beside.status], [200, 200, 200]);
  assert.equal(new Set([mine, theirs, beside].map(({ body }) => body.id)).size, 3);
  assert.equal((await post({ key, token: theirToken, body: { name: "once-3" } })).body.id, theirs.body.id);
});

test("a refusal is kept as the answer; a server error and a rate limit are not", async () => {
  const key = newKey();
  await post({ body: { name: "once-4" } });
  const refused = await post({ key, body: { name: "once-4" } });
  assert.deepEqual([refused.status, refused.body.code, refused.replayed], [409, "NameTaken", false]);
  const { id } = await cloud.admin.call(api.devices.get, { nameOrId: "once-4" });
  await cloud.admin.call(api.devices.delete, { nameOrId: id });
  const repeated = await post({ key, body: { name: "once-4" } });
  assert.deepEqual([repeated.text, repeated.replayed], [refused.text, true]);

  await prisma.$executeRaw`ALTER TABLE "Device" ADD CONSTRAINT broken CHECK (name <> 'once-4b')`;
  const fault = await post({ key: `${key}b`, body: { name: "once-4b" } });
  await prisma.$executeRaw`ALTER TABLE "Device" DROP CONSTRAINT broken`;
  assert.equal(fault.status, 500);
  assert.equal((await post({ key: `${key}b`, body: { name: "once-4b" } })).status, 200);
});

test("after a day the key can be used again, and the sweep has removed its row", async () => {
  const key = newKey();
  await post({ key, body: { name: "once-6" } });
  clock.aheadNs = DAY_NS;
  const again = await post({ key, body: { name: "once-6" } });
  assert.deepEqual([again.status, again.body.code], [409, "NameTaken"], "it was tried, and not remembered");
  const fresh = await prisma.keptAnswer.findMany({ where: { key } });
  assert.deepEqual(
    fresh.map(({ status }) => status),
    [409],
  );
  await forgetOldAnswers(cloud.deps.db, clock.nowNs());
  assert.equal(await prisma.keptAnswer.count({ where: { createdAtNs: { lte: clock.nowNs() - DAY_NS } } }), 0);
  assert.equal(await prisma.keptAnswer.count({ where: { key } }), 1);
  clock.aheadNs = 0n;
});

test("an answer above 64 kB is not kept, but made again from what was created", async () => {
  const [key, metadata] = [newKey(), { note: "x".repeat(70_000) }];
  const body = { name: "long", data: metadata, permission: "ORG_WRITE" };
  const first = await post({ path: "/v1/layouts", key, body });
  assert.equal(first.status, 200, first.text.slice(0, 300));
  const { body: kept, madeId } = (await prisma.keptAnswer.findFirstOrThrow({ where: { key } }))!;
  assert.deepEqual([kept, madeId], [null, first.body.id]);
  const repeated = await post({ path: "/v1/layouts", key, body });
  assert.deepEqual([repeated.status, repeated.replayed, repeated.body], [200, true, first.body]);
});

test("a token that is shown once is not kept: a repeat is 409 and names what was created", async () => {
  const device = await post({ body: { name: "once-7" } });
  for (const [path, body] of [
    ["/v1/api-keys", { name: "made once", capabilities: ["devices.list"] }],
    ["/v1/device-tokens", { deviceId: device.body.id }],
  ] as const) {
    const key = newKey();
    const first = await post({ path, key, body });
    const [row] = await prisma.$queryRaw<
      [{ text: string }]
    >`SELECT to_jsonb(k)::text AS text FROM "KeptAnswer" k WHERE key = ${key}`;
    const repeated = await post({ path, key, body });
    assert.equal(first.status, 200, first.text);
    assert.ok(typeof first.body.token === "string" && !row.text.includes(first.body.token));
    assert.deepEqual([repeated.status, repeated.body.code], [409, "SecretAlreadyShown"]);
    assert.ok(String(repeated.body.error).includes(String(first.body.id)));
  }
});

test("an upload is requested once: a repeat gets a link to the same request, and either link accepts the file", async () => {
  const [key, body] = [newKey(), { filename: "a.mcap", deviceName: "once-8" }];
  const first = await post({ path: "/v1/data/upload", key, body });
  const row = await prisma.keptAnswer.findFirstOrThrow({ where: { key } });
  assert.equal(row.body, null, "a link is good for who has it");
  const again = await post({ path: "/v1/data/upload", key, body });
  assert.equal(again.body.requestId, first.body.requestId);
  assert.equal((await putFile(String(again.body.link), await makeMcap())).status, 200);
  assert.equal(await prisma.device.count({ where: { name: "once-8" } }), 1);
});

test("an empty key, or one that is too long, is refused", async () => {
  for (const key of ["", "k".repeat(256)]) assert.equal((await post({ key, body: { name: "once-9" } })).status, 400);
  assert.equal((await post({ key: "k".repeat(255), body: { name: "once-9" } })).status, 200);
});
