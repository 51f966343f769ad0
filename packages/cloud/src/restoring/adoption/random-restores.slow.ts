// Databases are set back to any moment, with the object store as it is or with objects missing; the walk is killed between any two of its
// steps, and agents list before, between and after them.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api } from "@downlink/protocol";
import { makeMcap } from "@downlink/recordings/testing";
import fc from "fast-check";
import { withTransaction } from "../../db/transaction.ts";
import { ingest } from "../../imports/ingest/pipeline.ts";
import { reindexRecording } from "../../imports/ingest/reindex-recording.ts";
import { manifestKey } from "../../keeping/manifests/manifest.ts";
import { openIncarnation } from "../../recovery/incarnations.ts";
import { copyDatabase } from "../../testing/database-copies.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { recordingItem, sayHello, sha256, startAgent, type TestAgent } from "../../testing/test-agent.ts";
import { putFile } from "../../testing/upload-file.ts";
import { walkStore } from "./walk.ts";

const RUNS = 5;
const STEPS = 14;

const cloud = await startCloud({ after }, { works: false });
const { admin, deps } = cloud;
const { prisma } = deps.db;
const never = new AbortController().signal;
let minute = 0n;

/** Makes a generator of random numbers (Mulberry32) that repeats its numbers for the same seed. */
function drawsOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function anotherMcap(): Promise<Uint8Array> {
  minute += 60n;
  return makeMcap({ startNs: (1_760_000_000n + minute) * 1_000_000_000n, durationSeconds: 1 });
}

interface World {
  readonly draw: () => number;
  readonly agents: TestAgent[];
  readonly files: ReturnType<typeof recordingItem>[][];
  readonly sent: Uint8Array[];
}

const indexMaybe = async ({ draw }: World, requestId: string) => {
  if (draw() < 0.7) await ingest(deps, requestId, never);
};

async function sendFile(world: World): Promise<void> {
  const isRepeat = world.sent.length > 0 && world.draw() < 0.2;
  const bytes = isRepeat ? world.sent[Math.floor(world.draw() * world.sent.length)]! : await anotherMcap();
  world.sent.push(bytes);
  const { link, requestId } = await admin.call(api.uploads.create, { filename: "a.mcap", deviceName: "sender" });
  assert.equal((await putFile(link, bytes)).status, 200);
  await indexMaybe(world, requestId);
}

/** An agent reports a file, gets a request for it, and sends all of it, nothing, or only opens the upload. */
async function useEdge(world: World): Promise<void> {
  const at = Math.floor(world.draw() * world.agents.length);
  const [agent, files] = [world.agents[at]!, world.files[at]!];
  const bytes = await anotherMcap();
  const item = recordingItem({ size: bytes.length });
  files.push(item);
  await agent.report([item]);
  const [recording] = await admin.call(api.recordings.list, { path: item.path });
  if (world.draw() < 0.2) return;
  await admin.call(api.recordings.requestImport, { keyOrId: recording!.id });
  const { id: requestId } = await prisma.importRequest.findFirstOrThrow({ where: { recordingId: recording!.id } });
  const { versionId, size, modifiedAt } = item;
  if (world.draw() < 0.2) return;
  const upload = await agent.call(api.edge.openUpload, { requestId, versionId, size, modifiedAt });
  if (world.draw() < 0.3) return;
  await agent.sendParts({ requestId, ...upload }, bytes);
  if (world.draw() < 0.2) return;
  await agent.call(api.edge.completeUpload, { requestId, uploadId: upload.uploadId, parts: [], sha256: sha256(bytes) });
  await indexMaybe(world, requestId);
}

async function deleteOne(world: World): Promise<void> {
  const rows = await prisma.recording.findMany({ where: { importStatus: "complete" }, orderBy: { id: "asc" } });
  const row = rows[Math.floor(world.draw() * rows.length)];
  if (!row) return;
  await admin.call(api.recordings.delete, { keyOrId: row.id });
  await forget(row.blobKey!);
}

/** Removes an object and its manifests, as the job for that does. */
async function forget(blobKey: string): Promise<void> {
  await deps.blobs.delete(blobKey);
  for (const kind of ["import", "begun"] as const) await deps.blobs.removeNote(manifestKey(blobKey, kind));
}

async function live(world: World): Promise<void> {
  const drawn = world.draw();
  if (drawn < 0.45) await sendFile(world);
  else if (drawn < 0.9) await useEdge(world);
  else await deleteOne(world);
}

/** Makes a process that dies after so many calls of the store and the queue. */
function dying(calls: number): typeof deps {
  let left = calls;
  const mortal = <T extends object>(parts: T): T =>
    new Proxy(parts, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== "function") return value;
        return (...args: unknown[]) => {
          if (left-- <= 0) throw new Error("killed");
          return Reflect.apply(value, target, args) as unknown;
        };
      },
    });
  return { ...deps, blobs: mortal(deps.blobs), jobs: mortal(deps.jobs) };
}

async function listAgain(world: World, at: number): Promise<void> {
  world.agents[at] = await sayHello(cloud, world.agents[at]!);
  await world.agents[at].report(world.files[at]!);
}

async function walkWithKills(world: World): Promise<void> {
  const waiting = world.agents.map((_, at) => at);
  for (let kills = 0; kills < 60; kills++) {
    if (world.draw() < 0.3 && waiting.length > 0) await listAgain(world, waiting.pop()!);
    const process = kills < 50 ? dying(Math.floor(world.draw() * 25)) : deps;
    const walk = walkStore({ ...process, replayLedger: async () => undefined }, never);
    await walk.catch((error: Error) => assert.equal(error.message, "killed"));
    await prisma.adoption.updateMany({ data: { beatAtNs: null } });
    if ((await prisma.deployment.findFirstOrThrow()).recoveringSinceNs === null) break;
  }
  for (const at of waiting) await listAgain(world, at);
}

async function workOff(): Promise<void> {
  for (const { id } of await prisma.importRequest.findMany({ where: { state: { notIn: ["awaiting"] } } }))
    await ingest(deps, id, never);
  for (const { id } of await prisma.recording.findMany({ where: { isUnverified: true } }))
    await reindexRecording(deps, { recordingId: id, signal: never });
}

const completeNow = () =>
  prisma.recording.findMany({
    where: { importStatus: "complete" },
    select: { id: true, contentSha256: true, blobKey: true, importId: true, sizeBytes: true, isUnverified: true },
    orderBy: { id: "asc" },
  });

const openNow = () =>
  prisma.upload.findMany({
    where: { state: "open", request: { state: "awaiting" } },
    select: { id: true, requestId: true },
    orderBy: { id: "asc" },
  });

async function recover(reason: string): Promise<void> {
  await withTransaction(deps.db, (tx) => openIncarnation(tx, { reason, nowNs: deps.clock.nowNs() }));
}

const emptyDatabase = await copyDatabase(deps.db);

async function begin(seed: number): Promise<World> {
  await emptyDatabase();
  for await (const { key } of deps.blobs.list("")) await deps.blobs.delete(key);
  for await (const { key } of deps.blobs.listNotes("manifests/")) await deps.blobs.removeNote(key);
  const agents = [await startAgent(cloud, "one"), await startAgent(cloud, "two")];
  return { draw: drawsOf(seed), agents, files: [[], []], sent: [] };
}

/** The rows that existed when the database was lost. */
interface Before {
  readonly complete: Awaited<ReturnType<typeof completeNow>>;
  readonly open: Awaited<ReturnType<typeof openNow>>;
  readonly received: readonly { readonly id: string }[];
}

/** Uses the control plane, and returns what exists then and a function that sets the database back to a random earlier moment. */
async function liveOn(world: World): Promise<Before & { readonly setBack: () => Promise<void> }> {
  const copyAt = Math.floor(world.draw() * STEPS);
  for (let step = 0; step < copyAt; step++) await live(world);
  const setBack = await copyDatabase(deps.db);
  for (let step = copyAt; step < STEPS; step++) await live(world);
  const received = await prisma.importRequest.findMany({ where: { state: "received" }, select: { id: true } });
  return { setBack, received, complete: await completeNow(), open: await openNow() };
}

async function checkFound({ complete, open, received }: Before, lost: ReadonlySet<string>): Promise<void> {
  const found = new Map((await completeNow()).map((row) => [row.id, row]));
  for (const row of complete.filter(({ blobKey }) => !lost.has(blobKey!)))
    assert.deepEqual(found.get(row.id), row, `recording ${row.id} is what it was`);
  for (const { blobKey } of found.values())
    assert(await deps.blobs.stat(blobKey!), "no recording promises what is gone");
  for (const { id } of received) {
    const request = await prisma.importRequest.findUnique({ where: { id } });
    assert(request && ["complete", "error"].includes(request.state), `request ${id} is ${request?.state}`);
  }
  const openAgain = new Set((await openNow()).map(({ id }) => id));
  for (const { id } of open) assert(openAgain.has(id), `upload ${id} goes on`);
}

async function checkFiles({ files }: World): Promise<void> {
  const rows = await prisma.edgeFile.findMany();
  assert.equal(new Set(rows.map(({ versionId }) => versionId)).size, files.flat().length);
  const owned = rows.flatMap(({ recordingId }) => recordingId ?? []);
  assert.equal(new Set(owned).size, rows.length, "each file is one recording");
  assert.equal(await prisma.recording.count({ where: { isEdge: true, id: { notIn: owned } } }), 0);
}

async function checkSecondWalk(): Promise<void> {
  const now = await prisma.recording.findMany({ orderBy: { id: "asc" } });
  await recover("once more");
  await walkStore({ ...deps, replayLedger: async () => undefined }, never);
  await workOff();
  assert.deepEqual(await prisma.recording.findMany({ orderBy: { id: "asc" } }), now, "another walk changes nothing");
}

async function restoreOnce(seed: number): Promise<void> {
  const world = await begin(seed);
  const { setBack, ...before } = await liveOn(world);
  const lost = new Set(before.complete.flatMap(({ blobKey }) => (world.draw() < 0.15 ? [blobKey!] : [])));
  await setBack();
  for (const blobKey of lost) await deps.blobs.delete(blobKey);
  await recover("a test");
  await walkWithKills(world);
  await workOff();
  await checkFound(before, lost);
  await checkFiles(world);
  await checkSecondWalk();
}

test("after a restore to any moment, and however often it is killed, the walk finds everything that the store has", async () => {
  await fc.assert(fc.asyncProperty(fc.integer(), restoreOnce), { numRuns: RUNS, endOnFailure: true });
});
