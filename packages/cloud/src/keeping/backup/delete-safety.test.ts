import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { api, type DeletionReason, type PermitAnswer } from "@downlink/protocol";
import { eventually, makeMcap, slowTest } from "@downlink/recordings/testing";
import { contextOf } from "../../background/jobs/transaction-context.ts";
import { readConfig } from "../../config.ts";
import { withTransaction } from "../../db/transaction.ts";
import { lockRecording } from "../../import-life/lock-recording.ts";
import { findDataAgain, loseData, storedFaults } from "../../import-life/lost-data.ts";
import { replayLedger } from "../../restoring/replay/replay-ledger.ts";
import { openFileFolder } from "../../store/blobs/file-folder.ts";
import { inPieces, readBlob } from "../../store/blobs/testing/pieces.ts";
import { startCloud, type TestCloud } from "../../testing/start-cloud.ts";
import { deliver, recordingItem, sayHello, sha256, startAgent } from "../../testing/test-agent.ts";
import { createRunningClock } from "../../testing/test-clock.ts";
import { makeBackup } from "./make-backup.ts";

const SECOND = 1_000_000_000n;
const CLOCKS_DIFFER_S = 61n;
let seed = 0;

/** A control plane whose clock the test sets, with devices that delete what is imported. */
async function start(t: TestContext, safety = "") {
  const clock = createRunningClock();
  const environment = { DOWNLINK_DELETE_SAFETY: safety, DOWNLINK_DELETE_PROOF_AGE: "1000d" };
  const cloud = await startCloud(t, { clock, environment });
  const place = await mkdtemp(join(tmpdir(), "downlink-safety-"));
  t.after(() => rm(place, { recursive: true }));
  const passSeconds = (seconds: bigint) => {
    clock.aheadNs += seconds * SECOND;
  };
  const backUp = async (signal = new AbortController().signal) => {
    using folder = await openFileFolder(place);
    const options = { folder, signal, databaseUrl: undefined, fileOf: undefined, proofDir: place, adminKey: undefined };
    const nowMs = () => Number(clock.nowNs() / 1_000_000n);
    return await makeBackup(cloud.deps, { ...options, nowMs, keep: { last: 3 }, write: () => {}, warn: () => {} });
  };
  return {
    cloud,
    passSeconds,
    backUp,
    makeImported: (client = cloud.admin) => makeImported({ ...cloud, admin: client }),
  };
}

/** Creates a device whose recording is imported. */
async function makeImported(cloud: TestCloud) {
  seed += 1;
  const bytes = await makeMcap({ seed });
  const agent = await startAgent(cloud, `robot-${seed}`);
  const item = recordingItem({ size: bytes.length });
  await agent.report([item]);
  const [recording] = await cloud.admin.call(api.recordings.list, { deviceId: agent.deviceId });
  const { id } = recording!;
  await cloud.admin.call(api.recordings.requestImport, { keyOrId: id });
  await deliver(agent, item, bytes);
  const status = () => cloud.admin.call(api.recordings.get, { keyOrId: id });
  await eventually(status, ({ importStatus }) => importStatus === "complete");
  await cloud.admin.call(api.devices.update, { nameOrId: agent.deviceId, autoDeleteAfterImport: true });
  let asking = agent;
  const ask = async (reason: DeletionReason = "imported") => {
    asking = await sayHello(cloud, { ...asking, lease: asking.hello.lease });
    const items = [{ versionId: item.versionId, sha256: sha256(bytes), reason }];
    return answerOf((await asking.call(api.edge.askPermits, { items })).answers[0]!);
  };
  return { id, ask };
}

function answerOf(answer: PermitAnswer): string {
  return answer.answer === "granted" ? "granted" : `${answer.code}: ${answer.text}`;
}

const WAITS = "SafetyPeriod: no backup of the control plane holds it yet";

test("once there is a backup, an imported file stays on its device until a backup that began later is complete", async (t) => {
  const { passSeconds, backUp, makeImported } = await start(t);
  const first = await makeImported();
  assert.equal(await first.ask(), "granted", "nobody makes backups here");
  passSeconds(CLOCKS_DIFFER_S);
  assert.equal(await backUp(), true);
  assert.equal(await first.ask(), "granted", "the backup holds it");

  const second = await makeImported();
  for (const reason of ["imported", "space"] as const) assert.equal(await second.ask(reason), WAITS);
  assert.equal(await second.ask("prune"), "granted", "which needs no import");
  passSeconds(3600n * 24n * 365n);
  assert.equal(await second.ask(), WAITS, "no time is enough");
  assert.equal(await backUp(), true);
  assert.equal(await second.ask(), "granted");
});

slowTest("a backup that began within a minute after the import does not count, because clocks differ", async (t) => {
  const { passSeconds, backUp, makeImported } = await start(t, "backup");
  const { ask } = await makeImported();
  passSeconds(50n);
  await backUp();
  assert.equal(await ask(), WAITS);
  passSeconds(20n);
  await backUp();
  assert.equal(await ask(), "granted");
});

slowTest("a backup that broke off, or that lacks something, does not count", async (t) => {
  const { cloud, passSeconds, backUp, makeImported } = await start(t, "backup");
  const [lost, kept] = [await makeImported(), await makeImported()];
  passSeconds(CLOCKS_DIFFER_S);
  assert.equal(await kept.ask(), WAITS, "there is none");
  await assert.rejects(backUp(AbortSignal.abort(new Error("stopped"))), /stopped/);
  assert.equal(await kept.ask(), WAITS);

  const { blobs, db } = cloud.deps;
  const { blobKey } = await db.prisma.recording.findUniqueOrThrow({ where: { id: lost.id } });
  const bytes = await readBlob(await blobs.open(blobKey!));
  await blobs.delete(blobKey!);
  assert.equal(await backUp(), false, "it warns of the object");
  assert.equal(await kept.ask(), WAITS);
  await blobs.put(blobKey!, inPieces(bytes));
  assert.equal(await backUp(), true);
  assert.equal(await kept.ask(), "granted");
});

slowTest("a duration, also none, is what the operator wants, whatever backups there are", async (t) => {
  const { passSeconds, backUp, makeImported } = await start(t, "0");
  await backUp();
  passSeconds(CLOCKS_DIFFER_S);
  assert.equal(await (await makeImported()).ask(), "granted");
});

slowTest(
  "a backup holds what every organization imported before, and nothing that another imported since",
  async (t) => {
    const { cloud, passSeconds, backUp, makeImported } = await start(t);
    const other = await cloud.otherOrganization();
    const before = [await makeImported(), await makeImported(other)];
    passSeconds(CLOCKS_DIFFER_S);
    await backUp();
    for (const { ask } of before) assert.equal(await ask(), "granted");
    assert.equal(await (await makeImported(other)).ask(), WAITS);
  },
);

slowTest("a database of before the first backup learns of it from the object store", async (t) => {
  const { cloud, passSeconds, backUp, makeImported } = await start(t);
  const before = await makeImported();
  passSeconds(CLOCKS_DIFFER_S);
  await backUp();
  const after = await makeImported();
  const { prisma } = cloud.deps.db;
  await prisma.ledgerEntry.deleteMany({ where: { kind: "Backup.insert" } });
  await prisma.backup.deleteMany();
  assert.equal(await after.ask(), "granted", "this is what would be lost");
  await replayLedger(cloud.deps, new AbortController().signal);
  assert.equal(await after.ask(), WAITS);
  assert.equal(await before.ask(), "granted");
});

slowTest(
  "data that was lost and is found again waits for another backup, because the last one was made without it",
  async (t) => {
    const { cloud, passSeconds, backUp, makeImported } = await start(t);
    const { id, ask } = await makeImported();
    passSeconds(CLOCKS_DIFFER_S);
    await backUp();
    assert.equal(await ask(), "granted");
    await withTransaction(cloud.deps.db, async (tx) => {
      const context = contextOf(tx, cloud.deps);
      const { blobKey } = await lockRecording(tx, id);
      assert.ok(await loseData(context, { recordingId: id, blobKey: blobKey! }, storedFaults.missing));
      await findDataAgain(context, await lockRecording(tx, id));
    });
    assert.equal(await ask(), WAITS);
    passSeconds(CLOCKS_DIFFER_S);
    await backUp();
    await eventually(ask, (answer) => answer === "granted"); // the bytes are read again before
  },
);

test("a setting that is neither a duration nor backup is refused with what it may be", () => {
  const read = (text: string) => readConfig({ DOWNLINK_DELETE_SAFETY: text }).deleteSafety;
  assert.deepEqual(["", "0", "2d", "backup"].map(read), ["backupIfAny", 0, 172_800, "backup"]);
  for (const text of ["backups", "Backup", "none", "1", "-1d"])
    assert.throws(() => read(text), /DOWNLINK_DELETE_SAFETY: must be backup, 0 or a duration such as 30min, 25h or 2d/);
});
