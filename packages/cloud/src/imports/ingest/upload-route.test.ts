import assert from "node:assert/strict";
import { once } from "node:events";
import { type ClientRequest, request as httpRequest } from "node:http";
import { after, type TestContext, test } from "node:test";
import { api, ErrorBody } from "@downlink/protocol";
import { eventually, makeMcap } from "@downlink/recordings/testing";
import { StorageFullError } from "../../store/blobs/blob-errors.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { createRunningClock } from "../../testing/test-clock.ts";
import { endOfImport, putFile } from "../../testing/upload-file.ts";
import { reconcile } from "./reconcile.ts";
import { showThatStreamLives } from "./stream-uploads.ts";

const MINUTE_NS = 60n * 1_000_000_000n;
const DAY_NS = 24n * 60n * MINUTE_NS;
const octets = { "content-type": "application/octet-stream" };
const clock = createRunningClock();
const cloud = await startCloud({ after }, { clock });
const { admin, deps } = cloud;
const { prisma } = deps.db;
const robot = await admin.call(api.devices.create, { name: "robot" });

const newLink = (filename = "a.mcap") => admin.call(api.uploads.create, { filename, deviceId: robot.id });
const uploadsOf = (requestId: string) => prisma.upload.findMany({ where: { requestId }, orderBy: { id: "asc" } });
const requestOf = (id: string) => prisma.importRequest.findUniqueOrThrow({ where: { id } });
const stored = () => Array.fromAsync(deps.blobs.list(robot.orgId), ({ key }) => key);

async function refusal(answer: Response | Promise<Response>): Promise<[number, string]> {
  const response = await answer;
  assert.match(response.headers.get("content-type")!, /^application\/json/);
  return [response.status, ErrorBody.parse(await response.json()).code];
}

/** Opens a PUT whose body the test sends. */
function openPut(link: string, headers: Record<string, string> = {}): ClientRequest {
  const put = httpRequest(link, { method: "PUT", headers: { ...octets, ...headers } });
  put.on("error", () => undefined);
  put.flushHeaders();
  return put;
}

async function answerOf(put: ClientRequest): Promise<{ status: number; body: unknown }> {
  const [response] = (await once(put, "response")) as [import("node:http").IncomingMessage];
  const text = Buffer.concat(await Array.fromAsync(response as AsyncIterable<Buffer>)).toString();
  return { status: response.statusCode!, body: JSON.parse(text) };
}

/** Moves the clock for the rest of one test. */
function later(t: TestContext, ns: bigint): void {
  clock.aheadNs += ns;
  t.after(() => {
    clock.aheadNs -= ns;
  });
}

for (const [how, headers] of [
  ["with a Content-Length", (bytes: Uint8Array) => ({ "content-length": String(bytes.length) })],
  ["in chunks without one", () => ({ "transfer-encoding": "chunked" })],
] as const)
  test(`a file that is PUT ${how} becomes a recording, whether or not the request carries an Authorization`, async () => {
    const bytes = await makeMcap({ startNs: 1_000_000_000n * BigInt(how.length), durationSeconds: 1 });
    const { link, requestId } = await newLink();
    const put = openPut(link, { ...headers(bytes), authorization: "Bearer something else" });
    for (let at = 0; at < bytes.length; at += 10_000) put.write(bytes.subarray(at, at + 10_000));
    put.end();
    assert.deepEqual(await answerOf(put), { status: 200, body: { requestId } });
    const ended = await endOfImport(cloud, requestId);
    assert.equal(ended.status, "complete");
    assert.equal((await admin.call(api.recordings.get, { keyOrId: ended.recordingId! })).size, bytes.length);
  });

test("a body without a type is accepted, as `curl -T` sends it, asking whether to continue first", async () => {
  const bytes = await makeMcap({ startNs: 1_700_000_000_000_000_000n, durationSeconds: 1 });
  const { link, requestId } = await newLink();
  const put = httpRequest(link, { method: "PUT", headers: { "content-length": bytes.length, expect: "100-continue" } });
  put.on("continue", () => put.end(bytes));
  put.flushHeaders();
  assert.deepEqual(await answerOf(put), { status: 200, body: { requestId } });
  assert.equal((await endOfImport(cloud, requestId)).status, "complete");
});

test("a body of another media type is 415, and the link stays valid", async () => {
  const { link } = await newLink();
  for (const type of ["text/plain", "application/json", "multipart/form-data; boundary=x"])
    assert.deepEqual(await refusal(putFile(link, "x", { "content-type": type })), [415, "UnsupportedMediaType"]);
  assert.equal((await putFile(link, "x", { "content-type": "Application/Octet-Stream; charset=binary" })).status, 200);
});

test("a link that was altered is 403, one of another method 405, and one without a signature 400, all as JSON", async () => {
  const { link } = await newLink();
  const other = await newLink();
  const altered = [
    link.replace(/uploads\/[^?]+/, `uploads/${other.requestId}`),
    link.replace(/([?&]s=)./, (_, name: string) => `${name}${link.includes("s=A") ? "B" : "A"}`),
    link.replace(/([?&]e=)\d/, "$19"),
  ];
  for (const text of altered) assert.deepEqual(await refusal(putFile(text, "x")), [403, "LinkRefused"], text);
  assert.deepEqual(await refusal(fetch(link)), [405, "MethodNotAllowed"]);
  assert.deepEqual(await refusal(putFile(link.replace(/\?.*/, ""), "x")), [400, "InvalidLink"]);
  assert.equal((await putFile(link, "x")).status, 200);
});

test("a link is valid for a day; then it is 403, and a request that nobody used ends", async (t) => {
  const { link, requestId } = await newLink();
  later(t, DAY_NS - MINUTE_NS);
  await reconcile(deps);
  assert.equal((await requestOf(requestId)).state, "awaiting");
  later(t, 2n * MINUTE_NS);
  assert.deepEqual(await refusal(putFile(link, "x")), [403, "LinkExpired"]);
  await reconcile(deps);
  assert.equal((await requestOf(requestId)).state, "awaiting", "a PUT that began in time may still be running");
  later(t, 10n * MINUTE_NS);
  await reconcile(deps);
  assert.equal((await requestOf(requestId)).state, "cancelled");
});

for (const [how, headers] of [
  ["with a Content-Length", { "content-length": "1000000" }],
  ["in chunks", { "transfer-encoding": "chunked" }],
] as const)
  test(`a PUT ${how} that breaks off leaves nothing behind, and the link stays valid`, async () => {
    const { link, requestId } = await newLink();
    const put = openPut(link, headers);
    await new Promise((resolve) => put.write(Buffer.alloc(1000), resolve));
    const [upload] = await eventually(
      () => uploadsOf(requestId),
      (rows) => rows.length === 1,
    );
    assert.equal(upload!.state, "open");
    put.destroy();
    await eventually(
      () => uploadsOf(requestId),
      ([row]) => row?.state === "removed",
    );
    assert.ok(!(await stored()).includes(upload!.blobKey));
    assert.equal(await deps.blobs.getNote(`manifests/${upload!.blobKey}/begun`), undefined);
    assert.equal((await putFile(link, "x")).status, 200);
    assert.deepEqual(
      (await uploadsOf(requestId)).map(({ state }) => state),
      ["removed", "stored"],
    );
  });

test("the sweep removes what a killed process left of a PUT, whole or not; a PUT that is alive stays, however slow", async (t) => {
  const { link, requestId } = await newLink();
  const { orgId } = robot;
  const dead = {
    orgId,
    requestId,
    kind: "stream",
    state: "open",
    createdAtNs: 0n,
    updatedAtNs: clock.nowNs(),
  } as const;
  const blobKey = `${orgId}/upl_dead`;
  await prisma.upload.create({ data: { ...dead, id: "upl_dead", blobKey } });
  await deps.blobs.put(blobKey, [Buffer.from("complete, but not acknowledged")] as never);
  const slow = openPut(link);
  await new Promise((resolve) => slow.write("begun", resolve));
  const [alive] = await eventually(
    () => uploadsOf(requestId),
    (rows) => rows.length === 2,
  );
  const sweep = async () => {
    await prisma.upload.updateMany({ where: { id: alive!.id, state: "open" }, data: { updatedAtNs: clock.nowNs() } });
    await reconcile(deps);
    return prisma.upload.findUniqueOrThrow({ where: { id: "upl_dead" } });
  };
  later(t, 9n * MINUTE_NS);
  assert.equal((await sweep()).state, "open");
  later(t, 2n * MINUTE_NS);
  assert.equal((await sweep()).state, "abandoned");
  later(t, 11n * MINUTE_NS);
  assert.equal((await sweep()).state, "removed");
  assert.ok(!(await stored()).includes(blobKey));
  slow.end();
  assert.equal((await answerOf(slow)).status, 200);
});

test("a PUT shows every half minute that it is alive", async (t) => {
  const { requestId } = await newLink();
  const times = { createdAtNs: 0n, updatedAtNs: 0n };
  const row = {
    id: "upl_beating",
    orgId: robot.orgId,
    requestId,
    blobKey: "beating",
    kind: "stream",
    state: "open",
  } as const;
  await prisma.upload.create({ data: { ...row, ...times } });
  t.mock.timers.enable({ apis: ["setInterval"] });
  const stop = showThatStreamLives(deps, "upl_beating");
  t.mock.timers.tick(30_000);
  t.mock.timers.reset();
  await eventually(
    () => prisma.upload.findUniqueOrThrow({ where: { id: "upl_beating" } }),
    ({ updatedAtNs }) => updatedAtNs > 0n,
  );
  stop();
  await prisma.upload.delete({ where: { id: "upl_beating" } });
});

test("an upload that was wrongly taken for dead is 503: nothing of it stays, and the link is valid", async () => {
  const { link, requestId } = await newLink();
  const put = openPut(link);
  await new Promise((resolve) => put.write("a part", resolve));
  const [upload] = await eventually(
    () => uploadsOf(requestId),
    (rows) => rows.length === 1,
  );
  await prisma.upload.update({ where: { id: upload!.id }, data: { state: "abandoned" } });
  put.end();
  const { status, body } = await answerOf(put);
  assert.deepEqual([status, ErrorBody.parse(body).code], [503, "Unavailable"]);
  assert.ok(!(await stored()).includes(upload!.blobKey));
  assert.equal((await putFile(link, "x")).status, 200);
});

test("a second PUT to a used link is 409, even if many run at the same moment: one file is kept", async () => {
  const { link, requestId } = await newLink();
  const puts = await Promise.all(
    Array.from({ length: 5 }, async (_, number) => {
      const put = openPut(link);
      await new Promise((resolve) => put.write(`file ${number}`, resolve));
      return put;
    }),
  );
  await eventually(
    () => uploadsOf(requestId),
    (rows) => rows.length === 5,
  );
  for (const put of puts) put.end();
  const answers = await Promise.all(puts.map(answerOf));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409, 409, 409, 409]);
  const rows = await uploadsOf(requestId);
  assert.deepEqual(rows.map(({ state }) => state).sort(), ["removed", "removed", "removed", "removed", "stored"]);
  const keys = await stored();
  assert.deepEqual(
    rows.filter(({ blobKey }) => keys.includes(blobKey)).map(({ state }) => state),
    ["stored"],
  );
  assert.deepEqual(await refusal(putFile(link, "late")), [409, "LinkUsed"]);
});

test("a full storage is 507: nothing is acknowledged, nothing stays, and the link is valid once there is room", async (t) => {
  const { link, requestId } = await newLink();
  const full = t.mock.method(deps.blobs, "put", () => Promise.reject(new StorageFullError(new Error("ENOSPC"))));
  assert.deepEqual(await refusal(putFile(link, "x")), [507, "StorageFull"]);
  assert.deepEqual(
    (await uploadsOf(requestId)).map(({ state }) => state),
    ["removed"],
  );
  full.mock.restore();
  assert.equal((await putFile(link, "x")).status, 200);
});

test("an empty file is accepted and ends as an error that says so", async () => {
  const { link, requestId } = await newLink("empty.mcap");
  assert.equal((await putFile(link, "")).status, 200);
  const ended = await endOfImport(cloud, requestId);
  assert.deepEqual([ended.status, ended.terminal, ended.recordingId], ["error", true, null]);
  assert.match(ended.error!, /no bytes/);
});

test("before the bytes are stored there is no pending import but by its id; a file that is no recording is quarantined with its reason", async () => {
  const { link, requestId } = await newLink("rubbish.mcap");
  const query = { filename: "rubbish.mcap", showCompleted: true, showQuarantined: true };
  assert.deepEqual(await admin.call(api.pendingImports.list, query), []);
  assert.equal((await admin.call(api.pendingImports.get, { requestId })).status, undefined);
  assert.equal((await putFile(link, "no recording at all")).status, 200);
  const failed = await endOfImport(cloud, requestId);
  assert.ok(failed.quarantinedAt !== undefined && failed.terminal && failed.error);
  assert.ok((await stored()).includes((await requestOf(requestId)).blobKey!), "the object stays where it is");
  assert.deepEqual(await admin.call(api.pendingImports.list, { filename: "rubbish.mcap" }), []);
  assert.equal((await admin.call(api.pendingImports.list, { requestId }))[0]?.status, "error");
  assert.deepEqual(await admin.call(api.recordings.list, { path: "rubbish.mcap" }), []);
});
