import assert from "node:assert/strict";
import { cp, mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { slowTest } from "@downlink/recordings/testing";
import { prepareDeployment } from "../calls/setup/first-start.ts";
import { createLinkSigner } from "../core/signed-link.ts";
import { openDatabase } from "../db/client.ts";
import { isDatabaseAway } from "../db/sql-state.ts";
import { withTransaction } from "../db/transaction.ts";
import { acceptStore, endByHand } from "../restoring/adoption/recover-by-hand.ts";
import { openFileStore } from "../store/blobs/file-store.ts";
import { copyDatabase, dropDatabase, restoreDatabase } from "../testing/set-back.ts";
import { createRunningClock } from "../testing/test-clock.ts";
import { createTestDatabase } from "../testing/test-database.ts";
import { holdDeployment } from "./held-deployment.ts";
import { goMarkRound, WrongStoreError } from "./mark-round.ts";
import { type Mark, MarkNotes, newMarkName } from "./marks.ts";

const clock = createRunningClock();
const log = { info: () => {}, warn: () => {} };

/** Repeats the call until the connections that a restore has ended are replaced: each is found to be lost only when it is used. */
async function onceBack<T>(act: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await act();
    } catch (error) {
      if (!isDatabaseAway(error)) throw error;
    }
  }
}

/** Opens what one process has: a pool of connections, and the marks that it has read. */
function openProcess(t: TestContext, url: string, blobs: Awaited<ReturnType<typeof openStore>>) {
  const db = openDatabase(url, { maxConnections: 3, log });
  t.after(() => db[Symbol.asyncDispose]());
  const lost: { id?: string; since: number[] } = { since: [] };
  const findLost = async (sinceMs: number) => {
    lost.since.push(sinceMs);
    return lost.id;
  };
  const deps = { db, blobs, clock, log, marks: new MarkNotes(blobs), findLost };
  return {
    ...{ deps, db, url, lost },
    round: () => onceBack(() => goMarkRound(deps)),
    hold: () => onceBack(() => withTransaction(db, holdDeployment)),
    row: () => db.prisma.deployment.findUniqueOrThrow({ where: { id: 1 } }),
    mark: () => db.prisma.deploymentMark.findUniqueOrThrow({ where: { id: 1 } }),
  };
}

async function openStore(t: TestContext) {
  const directory = await mkdtemp(join(tmpdir(), "downlink-marks-"));
  t.after(() => rm(directory, { recursive: true }));
  const signer = createLinkSigner(["x".repeat(32)]);
  const open = () => openFileStore({ directory, signer, publicUrl: () => "http://localhost", clock });
  return { ...(await open()), directory };
}

async function openDeployment(t: TestContext) {
  const blobs = await openStore(t);
  const url = await createTestDatabase(t);
  const process = openProcess(t, url, blobs);
  await prepareDeployment(process.db, { adminKey: undefined, nowNs: 1n, keepAdminKey: async () => {} });
  await process.round();
  const notes = join(blobs.directory, "notes");
  const copyOf = async () => {
    const copy = await copyDatabase(url);
    t.after(() => dropDatabase(copy));
    return copy;
  };
  return { ...process, blobs, notes, copy: copyOf, beside: (at = url) => openProcess(t, at, blobs) };
}

test("the first mark makes it safe to destroy, and each further round confirms another one", async (t) => {
  const { round, hold, mark, deps } = await openDeployment(t);
  assert.equal((await hold()).danger, undefined);
  const first = (await mark()).confirmed;
  await round();
  assert.ok((await mark()).confirmed! > first!);
  const [newest, oldest] = await deps.marks.list();
  assert.deepEqual([newest!.sequence, oldest!.sequence], [2n, 1n]);
  assert.equal(newest!.postgres, (await mark()).postgres);
});

slowTest(
  "the next round of a running process notices that the database was set back, and opens another incarnation",
  async (t) => {
    const { round, hold, row, copy, url } = await openDeployment(t);
    const before = await row();
    const backup = await copy();
    for (let at = 0; at < 3; at++) await round();
    await restoreDatabase(url, backup);
    assert.match((await hold()).danger!, /Postgres/, "nor is anything destroyed until then");
    await round();
    const after = await row();
    assert.notEqual(after.incarnation, before.incarnation);
    assert.deepEqual(after.ancestors, [before.incarnation]);
    assert.match(after.recoveringReason!, /older than the object store/);
    assert.ok((await hold()).isRecovering);
    for (let at = 0; at < 3; at++) await round();
    assert.equal((await row()).incarnation, after.incarnation, "once is enough");
    assert.equal((await row()).conflict, null);
  },
);

slowTest("a database that is set back again and again to the same backup gets an incarnation each time", async (t) => {
  const { round, row, copy, url } = await openDeployment(t);
  const backup = await copy();
  const seen = new Set([(await row()).incarnation]);
  for (let restore = 1; restore <= 3; restore++) {
    await round();
    await restoreDatabase(url, backup);
    await round();
    const { incarnation, conflict } = await row();
    assert.ok(!seen.has(incarnation) && conflict === null, String(conflict));
    seen.add(incarnation);
  }
});

test("a database that was set back by less than a minute is noticed by an upload of the last day that has no row", async (t) => {
  const { round, hold, row, mark, lost, copy, url } = await openDeployment(t);
  const backup = await copy();
  const { confirmedAtNs } = await mark();
  const { incarnation } = await row();
  await restoreDatabase(url, backup);
  await round();
  assert.deepEqual(lost.since, [Number(confirmedAtNs! / 1_000_000n) - 86_400_000]);
  assert.equal((await row()).incarnation, incarnation, "nothing is missing");
  assert.equal((await hold()).danger, undefined);

  const second = await copy();
  await restoreDatabase(url, second);
  lost.id = "upl_lost";
  await round();
  assert.notEqual((await row()).incarnation, incarnation);
  assert.match((await hold()).danger!, /upl_lost/);
});

test("while the store is not mounted no mark is written or confirmed, and once it is back, rounds continue", async (t) => {
  const { round, row, mark, notes } = await openDeployment(t);
  const { incarnation } = await row();
  const { confirmed } = await mark();
  await rename(notes, `${notes}.away`);
  await assert.rejects(round(), WrongStoreError);
  await assert.rejects(round(), /wrong or unmounted store/);
  assert.deepEqual([(await mark()).confirmed, (await mark()).confirmedAtNs], [confirmed, null]);
  await rename(`${notes}.away`, notes);
  await round();
  assert.deepEqual([(await row()).incarnation, (await row()).recoveringSinceNs], [incarnation, null]);
});

test("an emptied store is used again once an admin has accepted it, with another incarnation that recovers", async (t) => {
  const { round, hold, row, mark, notes, deps } = await openDeployment(t);
  const { incarnation } = await row();
  await rm(notes, { recursive: true });
  await assert.rejects(round(), WrongStoreError);
  await acceptStore(deps);
  await round();
  assert.ok((await mark()).confirmed);
  assert.notEqual((await row()).incarnation, incarnation);
  assert.ok((await hold()).isRecovering);
  await endByHand(deps);
  await round();
  assert.equal((await hold()).danger, undefined);
});

test("a store that was set back alone is noticed because it no longer has the mark that it confirmed", async (t) => {
  const { round, row, notes } = await openDeployment(t);
  const { incarnation } = await row();
  await cp(notes, `${notes}.backup`, { recursive: true });
  await round();
  await rm(notes, { recursive: true });
  await rename(`${notes}.backup`, notes);
  await round();
  const after = await row();
  assert.notEqual(after.incarnation, incarnation);
  assert.match(after.recoveringReason!, /store is older than the database/);
  await round();
  assert.equal((await row()).incarnation, after.incarnation);
});

test("if a copy of the database is started with the live store, neither destroys anything until an admin chooses one", async (t) => {
  const original = await openDeployment(t);
  const copy = original.beside(await original.copy());
  for (let minute = 0; minute < 4; minute++) {
    await original.round();
    await copy.round();
  }
  for (const each of [original, copy]) assert.match((await each.hold()).danger!, /two databases use one object store/);
  const settled = [(await original.row()).incarnation, (await copy.row()).incarnation];
  for (let minute = 0; minute < 3; minute++) {
    await original.round();
    await copy.round();
  }
  assert.deepEqual([(await original.row()).incarnation, (await copy.row()).incarnation], settled, "nobody opens more");
  await acceptStore(original.deps);
  await original.round();
  await endByHand(original.deps);
  await original.round();
  assert.equal((await original.hold()).danger, undefined);
});

slowTest("if one of two databases is chosen while the other still runs, the conflict is reported again", async (t) => {
  const original = await openDeployment(t);
  const copy = original.beside(await original.copy());
  for (let minute = 0; minute < 4; minute++) {
    await original.round();
    await copy.round();
  }
  await acceptStore(original.deps);
  for (const process of [original, copy, original]) await process.round();
  assert.match((await original.hold()).danger!, /two databases/);
});

test("a store with another deployment's marks is refused", async (t) => {
  const mine = await openDeployment(t);
  const theirs = mine.beside(await createTestDatabase(t));
  await prepareDeployment(theirs.db, { adminKey: undefined, nowNs: 1n, keepAdminKey: async () => {} });
  await assert.rejects(theirs.round(), /marks of another deployment/);
  assert.notEqual((await theirs.hold()).danger, undefined);
  await mine.round();
  assert.equal((await mine.hold()).danger, undefined, "the first deployment is not disturbed");
});

for (const step of ["listNotes", "putNote"] as const)
  slowTest(`a process that was suspended in ${step} during a restore does no harm when it continues`, async (t) => {
    const { round, row, copy, url, blobs, mark, hold } = await openDeployment(t);
    const backup = await copy();
    const { promise: stopped, resolve: goOn } = Promise.withResolvers<void>();
    const { promise: isThere, resolve: arrive } = Promise.withResolvers<void>();
    const wait = async () => {
      arrive();
      await stopped;
    };
    const putNote: typeof blobs.putNote = async (key, bytes) => {
      await wait();
      return blobs.putNote(key, bytes);
    };
    const listNotes: typeof blobs.listNotes = async function* (prefix) {
      const listed = await Array.fromAsync(blobs.listNotes(prefix));
      await wait();
      yield* listed;
    };
    const still = openProcess(t, url, { ...blobs, ...(step === "putNote" ? { putNote } : { listNotes }) });
    const late = still.round();
    await isThere;
    await round();
    await restoreDatabase(url, backup);
    await round();
    const { incarnation, recoveringSinceNs } = await row();
    assert.ok(recoveringSinceNs !== null);
    const { confirmedAtNs } = await mark();
    goOn();
    await late;
    for (let minute = 0; minute < 3; minute++) await round();
    assert.deepEqual([(await row()).incarnation, (await row()).conflict], [incarnation, null]);
    assert.ok((await mark()).confirmedAtNs! > confirmedAtNs! && (await hold()).isRecovering);
  });

slowTest("processes that compare at the same time do not disturb each other", async (t) => {
  const { row, mark, hold, beside, deps } = await openDeployment(t);
  const { incarnation } = await row();
  const processes = [beside(), beside(), beside()];
  for (let minute = 0; minute < 5; minute++) await Promise.all(processes.map((process) => process.round()));
  assert.equal((await row()).incarnation, incarnation);
  assert.equal((await hold()).danger, undefined);
  const marks = await deps.marks.list();
  assert.deepEqual([marks.length, marks[0]!.name], [16, (await mark()).confirmed]);
});

slowTest("only the newest hundred marks are kept", async (t) => {
  const { db, round, deps } = await openDeployment(t);
  await db.prisma.deploymentMark.updateMany({ data: { sequence: 110n } });
  const [{ sequence: _, name: __, ...content }] = (await deps.marks.list()) as [Mark];
  const names = Array.from({ length: 109 }, (_, at) => newMarkName(BigInt(at + 2)));
  for (const name of names) await deps.marks.write(name, content);
  await db.prisma.deploymentMark.updateMany({ data: { confirmed: names.at(-1)! } });
  await round();
  await round();
  const marks = await deps.marks.list();
  assert.deepEqual([marks.length, marks[0]!.sequence, marks.at(-1)!.sequence], [100, 112n, 13n]);
  assert.ok((await Array.fromAsync(deps.blobs.listNotes("marks/"))).length <= 101);
});
