import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { ApiCallError } from "@downlink/client";
import { storeSettings } from "@downlink/cloud/testing";
import { api } from "@downlink/protocol";
import { eventually, makeMcap, readMessages } from "@downlink/recordings/testing";
import { request } from "undici";
import { startControlPlane } from "./processes/control-plane.ts";
import { startProgram } from "./processes/program.ts";
import { type SelfHostedSite, startSelfHostedSite } from "./processes/self-hosted-site.ts";
import { startTcpProxy } from "./processes/tcp-proxy.ts";

const MINUTE_NS = 60_000_000_000n;
const folder = await mkdtemp(join(tmpdir(), "downlink-site-"));
const stack = new AsyncDisposableStack();
stack.defer(() => rm(folder, { recursive: true }));
after(() => stack.disposeAsync());
const cloud = stack.use(await startControlPlane({ dataDir: join(folder, "cloud") }));
const { admin } = cloud;
const link = stack.use(await startTcpProxy());
link.leadTo(cloud.url);
const { id: siteId } = await admin.call(api.sites.create, { name: "plant", type: "self-hosted" });
const { token } = await admin.call(api.siteTokens.create, { siteId });
const dataDir = join(folder, "plant");
let site: SelfHostedSite = await start();
stack.defer(() => site[Symbol.asyncDispose]());

function start(port?: string): Promise<SelfHostedSite> {
  return startSelfHostedSite({ controlPlane: link.url, token: token!, dataDir, ...(port && { port }) });
}

async function killAndStart(): Promise<void> {
  const { port } = new URL(site.url);
  await site.program.end("SIGKILL");
  site = await start(port);
}

interface Sent {
  readonly bytes: Uint8Array;
  readonly requestId: string;
}

let files = 0n;
const sent: Sent[] = [];

/** Makes another recording, and a link for it. */
async function prepare(more: Parameters<typeof makeMcap>[0] = {}) {
  files += 1n;
  const startNs = 1_760_000_000_000_000_000n + files * MINUTE_NS;
  const bytes = await makeMcap({ startNs, durationSeconds: 2, ...more });
  const body = { filename: `${files}.mcap`, deviceName: "cell-7", siteId };
  const created = await eventually(
    () => admin.call(api.uploads.create, body).catch(unlessUnavailable),
    (found) => found !== undefined,
  );
  return { bytes, ...created! };
}

function unlessUnavailable(error: unknown): undefined {
  if (!(error instanceof ApiCallError && error.code === "SiteUnavailable")) throw error;
}

async function put(target: string, body: Uint8Array | AsyncIterable<Uint8Array>): Promise<number> {
  const answer = await request(target, { method: "PUT", body: body as Uint8Array });
  await answer.body.dump();
  return answer.statusCode;
}

async function send(more?: Parameters<typeof makeMcap>[0]): Promise<void> {
  const { bytes, requestId, link: target } = await prepare(more);
  assert.equal(await put(target, bytes), 200);
  sent.push({ bytes, requestId });
}

/** Waits for the end of every import, and compares what the site exports with what was sent. */
async function assertAllImported(): Promise<void> {
  for (const { requestId, bytes } of sent) {
    const [ended] = await eventually(
      () => admin.call(api.pendingImports.list, { requestId, showCompleted: true, showQuarantined: true }),
      ([found]) => found?.terminal === true,
    );
    assert.equal(ended!.status, "complete", ended!.error);
    assert.deepEqual(await readMessages(await exportOf(ended!.recordingId!)), await readMessages(bytes));
  }
  assert.equal((await admin.call(api.recordings.list, {})).length, sent.length);
  const names = await eventually(
    () => readdir(join(dataDir, "objects"), { recursive: true }),
    (found) => found.filter((name) => /\+upl_/.test(name)).length === sent.length,
  );
  assert.equal(names.filter((name) => /\+idx_/.test(name)).length, sent.length, "one index of each");
}

test("a site that is killed after each answer imports every file that it acknowledged, once", async () => {
  for (let round = 0; round < 4; round++) {
    await send();
    await killAndStart();
  }
  await assertAllImported();
});

test("a site that is killed in the middle of a body keeps nothing of it, and takes the file by the same link", async () => {
  const { bytes, requestId, link: target } = await prepare();
  const { promise: halfSent, resolve } = Promise.withResolvers<void>();
  async function* slowly() {
    yield bytes.subarray(0, 50_000);
    resolve();
    await new Promise(() => {}); // the rest never comes
  }
  const broken = assert.rejects(put(target, slowly()));
  await halfSent;
  await killAndStart();
  await broken;
  assert.equal(await put(target, bytes), 200);
  sent.push({ bytes, requestId });
  await assertAllImported();
});

test("a site that is cut from its control plane takes files, is killed, and imports them once it is connected again", async () => {
  const prepared = [await prepare(), await prepare()];
  link.leadTo(undefined);
  link.cut();
  for (const { bytes, requestId, link: target } of prepared) {
    assert.equal(await put(target, bytes), 200);
    sent.push({ bytes, requestId });
    await killAndStart();
  }
  link.leadTo(cloud.url);
  await assertAllImported();
});

test("a link that breaks again and again while files come loses none and doubles none", async () => {
  for (let round = 0; round < 4; round++) {
    await send();
    link.cut();
  }
  await assertAllImported();
});

/** Enough to read that a kill comes in the middle of it. */
const large = () => ({ attachments: [{ name: "noise.bin", data: randomBytes(24 * 1024 * 1024) }] });

test("a site that is killed while it reads a file reads it again, and files it once", async () => {
  for (const afterMs of [0, 30, 100, 300]) {
    await send(large());
    await delay(afterMs);
    await killAndStart();
  }
  await assertAllImported();
});

test("an export that a killed site broke off is never taken for a whole one, and the next one is whole", async () => {
  const { requestId, bytes } = sent.at(-1)!;
  const [{ recordingId } = {}] = await admin.call(api.pendingImports.list, { requestId, showCompleted: true });
  const wanted = { recordingId: recordingId!, includeAttachments: true };
  const createExport = () => admin.call(api.exports.create, wanted).catch(unlessUnavailable);
  const startExport = async () => request((await eventually(createExport, (found) => found !== undefined))!.link);
  for (const pieces of [1, 2, 9]) {
    const { body } = await startExport();
    await assert.rejects(killAtPiece(body, pieces));
    await killAndStart();
  }
  const { body } = await startExport();
  assert.deepEqual(await readMessages(await body.bytes()), await readMessages(bytes));
});

/** Reads on once the site is dead. More of the export is left then than connections hold. */
async function killAtPiece(body: AsyncIterable<Uint8Array>, last: number): Promise<void> {
  let pieces = 0;
  for await (const _ of body) if (++pieces === last) await site.program.end("SIGKILL");
}

/** The names of what the site has of files by topic: files, their indexes and lists. */
async function lakeNames(): Promise<string[]> {
  const names = await readdir(join(dataDir, "objects"), { recursive: true });
  return names.filter((name) => name.includes("lake+") && !name.endsWith(".temporary"));
}

const lakeOf = (recordingId: string) => admin.call(api.lakeFiles.list, { siteId, recordingId });

test("a site that is killed again and again while it makes files by topic lists none that is not whole, and leaves none over", async () => {
  assert.match(await setIndexing("split-files"), /^split-files, 0 recordings with files by topic$/m);
  const recordings = await admin.call(api.recordings.list, {});
  for (const more of [1, 4, 8]) {
    const before = (await lakeNames()).length;
    await eventually(lakeNames, ({ length }) => length >= before + more);
    await killAndStart();
    for (const { id } of recordings) assert.ok([0, 4].includes((await lakeOf(id)).length), "all files or none");
  }
  for (const { id } of recordings) {
    const files = await eventually(
      () => lakeOf(id),
      ({ length }) => length > 0,
    );
    const whole = await readMessages(await exportOf(id));
    for (const { path, topics } of files) {
      const name = (await lakeNames()).find((each) => each.endsWith(path.replaceAll("/", "+")))!;
      const stored = await readMessages(await readFile(join(dataDir, "objects", name)));
      const expected = whole.filter(({ topic }) => topic === topics[0]);
      assert.deepEqual(stored, expected);
    }
  }
  await eventually(lakeNames, ({ length }) => length === recordings.length * (2 * 4 + 1));
  await setIndexing("whole-files");
  for (const { id } of recordings) assert.deepEqual(await lakeOf(id), []);
});

async function setIndexing(strategy: string): Promise<string> {
  const command = startProgram({
    script: "cloud/src/main.ts",
    args: ["admin", "site", "indexing", "plant", strategy],
    env: { DOWNLINK_DATA_DIR: join(folder, "cloud"), ...storeSettings(join(folder, "cloud")) },
  });
  assert.equal(await command.ended, 0, command.output());
  return command.output();
}

async function exportOf(recordingId: string): Promise<Uint8Array> {
  const { link: target } = await admin.call(api.exports.create, { recordingId });
  const { body } = await request(target);
  return body.bytes();
}

test("a process that stood still while another one took its lease changes nothing when it goes on", async () => {
  const stopped = site;
  await send(large());
  process.kill(stopped.program.pid, "SIGSTOP");
  const another = join(folder, "plant-again");
  await mkdir(another);
  await copyFile(join(dataDir, "site.json"), join(another, "site.json"));
  const objectsDir = join(dataDir, "objects");
  site = await startSelfHostedSite({ controlPlane: link.url, token: token!, dataDir: another, objectsDir });
  await eventually(
    () => admin.call(api.uploads.create, { filename: "unused.mcap", deviceName: "cell-7", siteId }),
    (created) => created.link.startsWith(site.url), // links lead there once it has the lease
  );
  await assertAllImported();
  await send(large());
  process.kill(stopped.program.pid, "SIGCONT");
  await stopped.program.line(/taken over|another process|LeaseLost|LeaseHeldElsewhere/);
  await send();
  await assertAllImported();
  await stopped.program.end("SIGKILL");
});
