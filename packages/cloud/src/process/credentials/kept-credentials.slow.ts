import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { ApiCallError } from "@downlink/client";
import { api, type Capability } from "@downlink/protocol";
import { eventually } from "@downlink/recordings/testing";
import { pino } from "pino";
import type { Database } from "../../db/client.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { createTestDatabase } from "../../testing/test-database.ts";
import { KeptCredentials } from "./kept-credentials.ts";
import { hashToken } from "./mint.ts";

const ENDLESS_MS = 1e9;
const LISTENERS = `FROM pg_stat_activity WHERE application_name = 'downlink-credentials' AND datname = current_database()`;

interface Lives {
  readonly proofLifeMs?: number;
  readonly proofIntervalMs?: number;
}

/** Starts a control plane, and the memory of another process, which keeps keys for ever so that only signals and proofs can end it. */
async function startKept(t: TestContext, { proofLifeMs = ENDLESS_MS, proofIntervalMs = 20 }: Lives = {}) {
  const url = await createTestDatabase(t);
  const asked = { count: 0 };
  const lives = { lifeMs: ENDLESS_MS, proofLifeMs, proofIntervalMs };
  const counting = (pool: Database["pool"]) => {
    const query = (statement: never) => {
      asked.count += 1;
      return pool.query(statement);
    };
    return { pool: { query } } as unknown as Pick<Database, "pool">;
  };
  const cloud = await startCloud(t, { works: false, environment: { DATABASE_URL: url } });
  const db = counting(cloud.deps.db.pool);
  const kept = await KeptCredentials.start({ url, db, log: pino({ level: "silent" }), ...lives });
  t.after(() => kept[Symbol.asyncDispose]());
  /** Says whether the key is found without the database. */
  const isKept = async (hash: string) => {
    const before = asked.count;
    await kept.find(hash);
    return asked.count === before;
  };
  return { cloud, kept, isKept, untilKept: (hash: string) => eventually(() => isKept(hash), Boolean) };
}

test("the database is asked once for a key, and each time for a device's token and for an unknown one", async (t) => {
  const { cloud, kept, isKept, untilKept } = await startKept(t);
  const { id: deviceId } = await cloud.admin.call(api.devices.create, { name: "robot" });
  const { token } = await cloud.admin.call(api.deviceTokens.create, { deviceId });
  const hash = hashToken(cloud.adminKey);
  await untilKept(hash);
  assert.equal((await kept.find(hash))?.kind, "apiKey");
  for (const other of [token!, "nobody's"]) {
    await isKept(hashToken(other));
    assert.equal(await isKept(hashToken(other)), false);
  }
});

test("any change of a key or its credential, by whatever statement, ends what is kept; that of its last use does not", async (t) => {
  const { cloud, kept, isKept, untilKept } = await startKept(t);
  const { pool } = cloud.deps.db;
  const hash = hashToken(await cloud.addKey(["devices.list"]));
  const change = (statement: string) => pool.query(statement, [hash]);
  const ofKey = `id = (SELECT "apiKeyId" FROM "Credential" WHERE "tokenSha256" = $1)`;
  for (const [statement, holds] of [
    [`UPDATE "ApiKey" SET capabilities = '{events.list}' WHERE ${ofKey}`, /events.list/],
    [`UPDATE "ApiKey" SET "projectIds" = '{prj_1}' WHERE ${ofKey}`, /prj_1/],
    [`UPDATE "Credential" SET "expiresAtNs" = 12345 WHERE "tokenSha256" = $1`, /12345/],
    [`UPDATE "ApiKey" SET enabled = false WHERE ${ofKey}`, /^undefined$/],
    [`UPDATE "ApiKey" SET enabled = true WHERE ${ofKey}`, /apiKey/],
    [`DELETE FROM "ApiKey" WHERE ${ofKey}`, /^undefined$/],
  ] as const) {
    if (await kept.find(hash)) await untilKept(hash);
    await change(`UPDATE "Credential" SET "lastUsedAtNs" = coalesce("lastUsedAtNs", 0) + 1 WHERE "tokenSha256" = $1`);
    if (await kept.find(hash)) assert.equal(await isKept(hash), true);
    await change(statement);
    await eventually(
      () => kept.find(hash),
      (found) => holds.test(String(found && Object.values(found).join())),
    );
  }
});

test("while the connection that signals changes is cut, nothing is kept, and what was kept is not used any more", async (t) => {
  const { cloud, kept, isKept, untilKept } = await startKept(t);
  const hash = hashToken(await cloud.addKey(["devices.list"]));
  await untilKept(hash);
  await cloud.deps.db.pool.query(`SELECT pg_terminate_backend(pid) ${LISTENERS}`);
  await eventually(
    () => isKept(hash),
    (isStill) => !isStill,
  );
  await cloud.deps.db.pool.query(`DELETE FROM "Credential" WHERE "tokenSha256" = $1`, [hash]);
  await eventually(
    () => kept.find(hash),
    (found) => found === undefined,
  );
  await untilKept(hashToken(cloud.adminKey)); // the connection comes back
});

test("a process without proof that it hears signals uses nothing that it kept, and keeps nothing more", async (t) => {
  const { cloud, isKept } = await startKept(t, { proofLifeMs: 100, proofIntervalMs: ENDLESS_MS });
  const hash = hashToken(cloud.adminKey);
  await isKept(hash);
  await eventually(
    () => isKept(hash),
    (isStill) => !isStill,
  );
  assert.equal(await isKept(hash), false);
});

test("the process that changes a key answers only after it has forgotten the key, even if the database signals nothing", async (t) => {
  const { admin, withToken, deps } = await startCloud(t, { works: false });
  for (const [table, trigger] of [
    ["ApiKey", "ApiKey_tells_of_change"],
    ["Credential", "Credential_tells_of_change"],
    ["Credential", "Credential_tells_of_end"],
  ])
    await deps.db.pool.query(`DROP TRIGGER "${trigger}" ON "${table}"`);
  const { id, token } = await admin.call(api.apiKeys.create, { name: "one", capabilities: ["devices.list"] });
  const codeOf = () =>
    withToken(token!)
      .call(api.devices.list, {})
      .then(
        () => "allowed",
        (error: ApiCallError) => error.code,
      );
  const afterwards = async (change: { enabled: boolean } | { capabilities: Capability[] }) => {
    await codeOf(); // this call is remembered
    await admin.call(api.apiKeys.update, { id, ...change });
    return codeOf();
  };
  assert.equal(await afterwards({ enabled: false }), "Unauthenticated");
  assert.equal(await afterwards({ enabled: true }), "allowed");
  assert.equal(await afterwards({ capabilities: ["events.list"] }), "MissingCapability");
  assert.equal(await afterwards({ capabilities: ["devices.list"] }), "allowed");
  await admin.call(api.apiKeys.delete, { id });
  assert.equal(await codeOf(), "Unauthenticated");
});

test("while calls run all the time, none that begins after a key was disabled is let in", async (t) => {
  const { admin, withToken } = await startCloud(t, { works: false });
  const { id, token } = await admin.call(api.apiKeys.create, { name: "busy", capabilities: ["devices.list"] });
  const state = { epoch: 0, isEnabled: true, isOver: false };
  const wrong: string[] = [];
  const callOn = async () => {
    while (!state.isOver) {
      const before = { ...state };
      const isAllowed = await withToken(token!)
        .call(api.devices.list, { limit: 1 })
        .then(
          () => true,
          () => false,
        );
      if (before.epoch % 2 === 0 && before.epoch === state.epoch && isAllowed !== before.isEnabled)
        wrong.push(`${isAllowed ? "let in" : "refused"} in epoch ${before.epoch}`);
    }
  };
  const callers = Array.from({ length: 6 }, callOn);
  for (let change = 0; change < 20; change++) {
    state.epoch += 1; // an odd epoch means that either answer is right
    await admin.call(api.apiKeys.update, { id, enabled: !state.isEnabled });
    state.isEnabled = !state.isEnabled;
    state.epoch += 1;
    await admin.call(api.devices.list, { limit: 1 });
    await withToken(token!)
      .call(api.devices.list, { limit: 1 })
      .catch(() => undefined);
  }
  state.isOver = true;
  await Promise.all(callers);
  assert.deepEqual(wrong, []);
});
