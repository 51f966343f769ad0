import assert from "node:assert/strict";
import { after, test } from "node:test";
import { withTransaction } from "../db/transaction.ts";
import { confirmDeletion, describeRecovery, endByHand } from "../restoring/adoption/recover-by-hand.ts";
import { startCloud } from "../testing/start-cloud.ts";
import { openIncarnation } from "./incarnations.ts";
import { MarkNotes, newMarkName } from "./marks.ts";

const cloud = await startCloud({ after }, { works: false });
const { deps } = cloud;

async function ready(): Promise<[number, { recovering?: string; error?: string }]> {
  const response = await fetch(`${cloud.url}/readyz`);
  const { disks: _, ...body } = (await response.json()) as { recovering?: string; disks?: unknown };
  return [response.status, body];
}

async function metric(): Promise<string | undefined> {
  const text = await (await fetch(`${cloud.url}/metrics`)).text();
  return /^downlink_recovering (\d)$/m.exec(text)?.[1];
}

/** Removes all marks from the store, and returns them. */
async function takeMarks(): Promise<Map<string, Uint8Array>> {
  const notes = new Map<string, Uint8Array>();
  for (const { key } of await Array.fromAsync(deps.blobs.listNotes("marks/"))) {
    notes.set(key, (await deps.blobs.getNote(key))!);
    await deps.blobs.removeNote(key);
  }
  return notes;
}

test("with an emptied store, or with another one, the process is not ready", async () => {
  const marks = await takeMarks();
  const [status, { error }] = await ready();
  for (const [key, bytes] of marks) await deps.blobs.putNote(key, bytes);
  assert.equal(status, 503);
  assert.match(error!, /wrong or unmounted store/);
  assert.equal((await ready())[0], 200);
});

const described = async () => (await describeRecovery(deps)).join("\n");

/** Writes a mark that is newer than all others. */
async function writeMark(deployment?: string): Promise<string> {
  const marks = new MarkNotes(deps.blobs);
  const [newest] = await marks.list();
  const name = newMarkName(newest!.sequence + 1000n);
  await marks.write(name, { ...newest!, deployment: deployment ?? newest!.deployment });
  return `marks/${name}`;
}

test("the command never says that database and store belong together while a process would not start or would recover", async () => {
  assert.match(await described(), /belong together/);
  const marks = await takeMarks();
  assert.match(await described(), /\nnothing starts: the object store has no mark, though it confirmed one/);
  for (const [key, bytes] of marks) await deps.blobs.putNote(key, bytes);
  const foreign = await writeMark("another");
  assert.match(await described(), /\nnothing starts: the object store holds marks of another deployment.*--from-store/);
  await deps.blobs.removeNote(foreign);
  const later = await writeMark();
  assert.match(
    await described(),
    /\nthe database is older than the object store: .*; as soon as a process runs, it recovers\n/,
  );
  await deps.blobs.removeNote(later);
  assert.match(await described(), /belong together/);
});

test("while it recovers the process is ready and reports why, in the health, the metrics and the command", async () => {
  assert.deepEqual(await ready(), [200, { status: "ready" }]);
  assert.equal(await metric(), "0");
  assert.match(await described(), /belong together/);
  await withTransaction(deps.db, (tx) => openIncarnation(tx, { reason: "a test", nowNs: deps.clock.nowNs() }));
  assert.deepEqual(await ready(), [200, { status: "ready", recovering: "a test" }]);
  assert.equal(await metric(), "1");
  const lines = await described();
  assert.match(lines, /recovering since \S+: a test\n/);
  assert.match(lines, /wait until \S+, or for --confirm/);
  await endByHand(deps);
  await confirmDeletion(deps);
  assert.deepEqual(await ready(), [200, { status: "ready" }]);
  assert.doesNotMatch(await described(), /wait until/);
});
