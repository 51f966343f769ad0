import assert from "node:assert/strict";
import { rename } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import { api, ErrorBody } from "@downlink/protocol";
import { eventually, makeMcap, slowTest } from "@downlink/recordings/testing";
import { readConfig } from "../../config.ts";
import { startHealthServer } from "../../server.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { startAgent } from "../../testing/test-agent.ts";
import { skipInBucket } from "../../testing/test-store.ts";
import { putFile, uploadFile } from "../../testing/upload-file.ts";

const cloud = await startCloud({ after });

async function ask(path: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${cloud.url}${path}`, { headers });
  return { status: response.status, retryAfter: response.headers.get("retry-after"), body: await response.text() };
}

/** Reads the value of a metric by its name and labels as they are printed. */
async function read(series: string): Promise<number> {
  const { status, body } = await ask("/metrics");
  assert.equal(status, 200, body);
  const line = body.split("\n").find((candidate) => candidate.startsWith(`${series} `));
  return line === undefined ? 0 : Number(line.slice(series.length + 1));
}

test("a running process is live, and is ready while its database and its store are", async () => {
  assert.equal((await ask("/livez")).status, 200);
  const { status, body } = await ask("/readyz");
  const { disks, ...ready } = JSON.parse(body) as { disks: { of: string; state: string; freeBytes: number }[] };
  assert.deepEqual([status, ready], [200, { status: "ready" }]);
  if (skipInBucket()) return;
  assert.deepEqual(
    disks.map(({ of }) => of),
    ["objects"],
    "the database of a test is elsewhere",
  );
  assert.ok((await read('downlink_disk_free_bytes{of="objects"}')) > 0);
  assert.ok((await read('downlink_disk_total_bytes{of="objects"}')) >= disks[0]!.freeBytes);
});

test("without the disk of its objects a process is live, and names what is missing until the disk is back", {
  skip: skipInBucket(),
}, async () => {
  const shard = join(cloud.dataDir, "objects", "00");
  await rename(shard, `${shard}.away`);
  const { status, retryAfter, body } = await ask("/readyz");
  const { status: live } = await ask("/livez");
  await rename(`${shard}.away`, shard);
  assert.deepEqual([status, retryAfter, live], [503, "5", 200]);
  const error = "the object store is not there: is its disk mounted?";
  assert.deepEqual(JSON.parse(body), { error, code: "Unavailable" });
  assert.equal((await ask("/readyz")).status, 200);
});

test("over a database that lacks a migration, as after a restore of an older one, the process names what is missing", async () => {
  const { pool } = cloud.deps.db;
  const name = cloud.deps.migrations.at(-1)!;
  await pool.query("UPDATE _prisma_migrations SET rolled_back_at = now() WHERE migration_name = $1", [name]);
  const { status, body } = await ask("/readyz");
  await pool.query("UPDATE _prisma_migrations SET rolled_back_at = NULL");
  assert.equal(status, 503);
  assert.ok(body.includes(`lacks migrations of this version: ${name}`), body);
  assert.equal((await ask("/readyz")).status, 200);
});

test("each answer is counted by its operation and status, with its duration and its bytes", async () => {
  const { id } = await cloud.admin.call(api.devices.create, { name: "counted-1" });
  const sentBefore = await read("downlink_http_sent_bytes_total");
  for (const nameOrId of [id, "nobody"]) await cloud.admin.call(api.devices.get, { nameOrId }).catch(() => {});
  await ask("/no/such/page");
  const one = 'operation="GET /v1/devices/{nameOrId}"';
  assert.equal(await read(`downlink_http_requests_total{${one},status="200"}`), 1);
  assert.equal(await read(`downlink_http_requests_total{${one},status="404"}`), 1);
  assert.equal(await read(`downlink_http_request_seconds_count{${one}}`), 2);
  assert.equal(await read('downlink_http_requests_total{operation="unmatched",status="404"}'), 1);
  assert.ok((await read("downlink_http_sent_bytes_total")) > sentBefore);
  assert.ok((await read("downlink_http_connections")) > 0);
});

slowTest("bytes of a body count while they arrive, and an import and an export count by their ends", async () => {
  const file = await makeMcap();
  const before = await read("downlink_http_received_bytes_total");
  const { recordingId } = await uploadFile(cloud, file, { filename: "a.mcap", deviceName: "counted-2" });
  assert.ok((await read("downlink_http_received_bytes_total")) >= before + file.byteLength);
  const complete = () => read('downlink_imports_total{outcome="complete"}');
  await eventually(complete, (count) => count === 1);
  assert.equal(await read("downlink_imported_bytes_total"), file.byteLength);
  const jobs = () => read('downlink_job_seconds_count{queue="ingest",outcome="completed"}');
  await eventually(jobs, (count) => count === 1);
  await uploadFile(cloud, Buffer.from("no recording"), { filename: "b.mcap", deviceName: "counted-2" });
  const failed = () => read('downlink_imports_total{outcome="failed"}');
  await eventually(failed, (count) => count === 1);
  const { link } = await cloud.admin.call(api.exports.create, { recordingId: recordingId! });
  await (await fetch(link)).arrayBuffer();
  assert.equal(await read('downlink_exports_total{outcome="complete"}'), 1);
  assert.equal(await read("downlink_exports_active"), 0);
});

test("the metrics of the deployment's work and agents are read from its database", async (t) => {
  const idle = await startCloud(t, { works: false });
  const { pool } = idle.deps.db;
  await startAgent(idle, "robot");
  await pool.query(
    "INSERT INTO pgboss.job (name, start_after) VALUES ('salvage', now() - interval '90 s'), ('sweep', now())",
  );
  await pool.query(
    "INSERT INTO pgboss.job (name, state) VALUES ('salvage', 'retry'), ('salvage', 'failed'), ('salvage', 'failed'), ('salvage', 'completed')",
  );
  const webhook = { name: "receiver", url: "https://example.org", eventTypes: ["device.offline" as const] };
  await idle.admin.call(api.webhooks.create, webhook);
  for (const [id, ageSeconds] of Object.entries({ whev_a: 60, whev_b: 30 }))
    await pool.query(
      `INSERT INTO "OutboxEvent" (id, "orgId", type, payload, "occurredAtNs")
        SELECT $1, "orgId", 'device.offline', '{}', $2 FROM "Webhook"`,
      [id, BigInt(Date.now() - ageSeconds * 1000) * 1_000_000n],
    );
  const body = await (await fetch(`${idle.url}/metrics`)).text();
  const value = (series: string) => valueIn(body, series);
  assert.equal(value('downlink_jobs{queue="salvage",state="waiting"}'), 1);
  assert.equal(value('downlink_jobs{queue="ingest",state="waiting"}'), 0);
  const states = ["retrying", "active", "failed"].map((state) =>
    value(`downlink_jobs{queue="salvage",state="${state}"}`),
  );
  assert.deepEqual(states, [1, 0, 2]);
  assert.equal(value("downlink_outbox_entries"), 2);
  const outboxSeconds = value("downlink_oldest_outbox_entry_seconds");
  assert.ok(outboxSeconds >= 59 && outboxSeconds < 3600, String(outboxSeconds));
  const ageSeconds = value('downlink_oldest_job_seconds{queue="salvage"}');
  assert.ok(ageSeconds >= 90 && ageSeconds < 3600, String(ageSeconds));
  assert.equal(value("downlink_agents_online"), 1);
  assert.equal(value("downlink_database_up"), 1);
});

slowTest(
  "webhooks that fail or were disabled by themselves, and self-hosted sites that are away, are counted",
  async (t) => {
    const idle = await startCloud(t, { works: false });
    const { admin, deps } = idle;
    const { prisma } = deps.db;
    const make = (name: string) =>
      admin.call(api.webhooks.create, { name, url: "https://example.org", eventTypes: ["device.created"] });
    const [failing, dead, off] = [await make("failing"), await make("dead"), await make("off"), await make("well")];
    const change = (id: string, data: object) => prisma.webhook.update({ where: { id }, data });
    await change(failing.id, { failingSinceNs: 1n });
    await change(dead.id, { enabled: false, failingSinceNs: 1n, disabledReason: "it failed for five days" });
    await change(off.id, { enabled: false });
    const leases = { here: deps.clock.nowNs() + 3_600_000_000_000n, away: 0n };
    for (const [name, leaseExpiresAtNs] of Object.entries(leases)) {
      const { id: siteId } = await admin.call(api.sites.create, { name, type: "self-hosted" });
      const process = { leaseNumber: 1n, leaseInstanceId: name, leaseExpiresAtNs, lastSeenAtNs: 1n };
      const store = { storeKind: "file", storeId: name, storeStarts: 1n, programVersion: "1" } as const;
      await prisma.siteProcess.create({ data: { siteId, ...process, ...store } });
    }
    await admin.call(api.sites.create, { name: "never served", type: "self-hosted" });
    const body = await (await fetch(`${idle.url}/metrics`)).text();
    const counted = (metric: string, states: readonly string[]) =>
      states.map((state) => valueIn(body, `downlink_${metric}{state="${state}"}`));
    assert.deepEqual(counted("webhooks", ["delivering", "failing", "disabled"]), [1, 1, 1]);
    assert.deepEqual(counted("self_hosted_sites", ["online", "away"]), [1, 1]);
  },
);

slowTest(
  "a process that only works on jobs answers for its health at the configured port, and serves nothing else",
  async (t) => {
    const works = await startCloud(t, { environment: { DOWNLINK_METRICS_TOKEN: "0123456789abcdef" } });
    const config = readConfig({ DOWNLINK_PORT: "0", DOWNLINK_WORK_PORT: "0" });
    await using health = await startHealthServer({ ...config, workPort: config.workPort! }, works.deps);
    const from = (path: string, headers = {}) => fetch(`${health.url}${path}`, { headers });
    assert.deepEqual([(await from("/livez")).status, (await from("/readyz")).status], [200, 200]);
    assert.equal((await from("/metrics")).status, 401);
    const metrics = await (await from("/metrics", { authorization: "Bearer 0123456789abcdef" })).text();
    assert.match(metrics, /^# TYPE downlink_job_seconds histogram$/m);
    const authorization = `Bearer ${works.adminKey}`;
    for (const path of ["/v1/devices", "/docs", "/v1/openapi.json", "/data-plane/exports"]) {
      const answer = await from(path, { authorization });
      assert.deepEqual([answer.status, ErrorBody.parse(await answer.json()).code], [404, "NotFound"], path);
    }
    works.deps.beginStopping();
    assert.deepEqual([(await from("/livez")).status, (await from("/readyz")).status], [200, 503]);
  },
);

test("no metric names anything of a tenant", async () => {
  const { id, name } = await cloud.admin.call(api.devices.create, { name: "secret-robot" });
  await cloud.admin.call(api.devices.get, { nameOrId: name });
  await putFile(`${cloud.url}/v1/${id}`, "x");
  const { body } = await ask("/metrics");
  for (const theirs of ["secret", id, "counted", (await cloud.deps.db.prisma.organization.findFirstOrThrow()).name])
    assert.ok(!body.includes(theirs), theirs);
});

test("metrics are for requests from this machine, and not for those that a proxy on it passes on from elsewhere", async () => {
  for (const header of ["X-Forwarded-For", "Forwarded", "X-Real-IP", "Via"])
    assert.equal((await ask("/metrics", { [header]: "for=203.0.113.7" })).status, 401, header);
});

test("if the operator has set a token, only the token opens the metrics, from everywhere", async (t) => {
  const token = "0123456789abcdef";
  const guarded = await startCloud(t, { works: false, environment: { DOWNLINK_METRICS_TOKEN: token } });
  const statusFor = async (headers: Record<string, string>) =>
    (await fetch(`${guarded.url}/metrics`, { headers })).status;
  assert.equal(await statusFor({}), 401);
  assert.equal(await statusFor({ authorization: `Bearer ${guarded.adminKey}` }), 401);
  assert.equal(await statusFor({ authorization: `Bearer ${token}`, "x-forwarded-for": "203.0.113.7" }), 200);
});

function valueIn(metrics: string, series: string): number {
  const line = metrics.split("\n").find((each) => each.startsWith(`${series} `));
  return Number(line?.split(" ").at(-1));
}
