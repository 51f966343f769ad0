import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { api } from "@downlink/protocol";
import { makeMcap } from "@downlink/recordings/testing";
import { openDatabase } from "../../db/client.ts";
import { withTransaction } from "../../db/transaction.ts";
import { ingest } from "../../imports/ingest/pipeline.ts";
import { restoreBackup } from "../../keeping/backup/restore-backup.ts";
import { heldObjects } from "../../keeping/backup/testing/held-objects.ts";
import { openIncarnation } from "../../recovery/incarnations.ts";
import { openFileFolder } from "../../store/blobs/file-folder.ts";
import { openStore } from "../../store/bucket-uploads/open-store.ts";
import { copyDatabase as copyRows } from "../../testing/database-copies.ts";
import { copyDatabase, dropDatabase } from "../../testing/set-back.ts";
import { startCloud, type TestCloud } from "../../testing/start-cloud.ts";
import { createTestDatabase } from "../../testing/test-database.ts";
import { skipInBucket } from "../../testing/test-store.ts";
import { putFile } from "../../testing/upload-file.ts";
import { walkStore } from "../adoption/walk.ts";
import { replayLedger } from "../replay/replay-ledger.ts";
import { copyExits } from "./copy-exits.ts";
import { openCopy } from "./testing/copy-beside.ts";

const never = new AbortController().signal;
const skip = skipInBucket();
let minute = 0n;

/** A control plane without a worker, whose objects are about to move. */
async function openDeployment(t: TestContext) {
  const root = await mkdtemp(join(tmpdir(), "downlink-copy-"));
  t.after(() => rm(root, { recursive: true }));
  const url = await createTestDatabase(t);
  const [source, target] = ["old", "new"].map((name) => ({ kind: "file", directory: join(root, name) }) as const);
  const environment = { DATABASE_URL: url, DOWNLINK_OBJECTS_DIR: source!.directory };
  const cloud = await startCloud(t, { works: false, environment });
  return { root, url, cloud, source: source!, target: target! };
}

async function importFile({ admin, deps }: TestCloud): Promise<string> {
  minute += 60n;
  const bytes = await makeMcap({ startNs: (1_760_000_000n + minute) * 1_000_000_000n, durationSeconds: 1 });
  const { link, requestId } = await admin.call(api.uploads.create, { filename: "a.mcap", deviceName: "robot" });
  assert.equal((await putFile(link, bytes)).status, 200);
  await ingest(deps, requestId, never);
  return (await deps.db.prisma.importRequest.findUniqueOrThrow({ where: { id: requestId } })).recordingId!;
}

const keysOf = async ({ deps }: TestCloud) => (await Array.fromAsync(deps.blobs.list(""), ({ key }) => key)).sort();

test("a database that was restored to before the move adopts what both stores have", { skip }, async (t) => {
  const { cloud, source, target } = await openDeployment(t);
  const { deps, admin } = cloud;
  const setBack = await copyRows(deps.db);
  const early = await importFile(cloud);
  const { copy, fresh } = await openCopy(cloud, { source, target });
  assert.equal(await copy(cloud), copyExits.waiting);
  const late = await importFile(cloud);
  const { blobKey } = await deps.db.prisma.recording.findUniqueOrThrow({ where: { id: late } });
  assert.ok(await fresh.stat(blobKey!));

  await setBack();
  assert.equal(await deps.db.prisma.storeMove.count(), 0);
  await withTransaction(deps.db, (tx) => openIncarnation(tx, { reason: "a test", nowNs: deps.clock.nowNs() }));
  await walkStore({ ...deps, replayLedger: (signal) => replayLedger(deps, signal) }, never);
  for (const keyOrId of [early, late]) {
    assert.equal((await admin.call(api.recordings.get, { keyOrId })).importStatus, "complete");
    const { link } = await admin.call(api.exports.create, { recordingId: keyOrId });
    assert.equal((await fetch(link)).status, 200);
  }
  assert.equal((await deps.db.prisma.storeMove.findFirstOrThrow()).state, "both");
});

test("what is restored elsewhere from a backup that was made during the move has one store", { skip }, async (t) => {
  const { root, url, cloud, source, target } = await openDeployment(t);
  await importFile(cloud);
  const { copy } = await openCopy(cloud, { source, target });
  assert.equal(await copy(cloud), copyExits.waiting);
  await importFile(cloud);
  const keys = await keysOf(cloud);
  const place = join(root, "backup");
  assert.deepEqual(await heldObjects(cloud.deps, { objectsDir: source.directory, place }), keys);

  const databaseUrl = await copyDatabase(url);
  t.after(() => dropDatabase(databaseUrl));
  const elsewhere = { kind: "file", directory: join(root, "elsewhere", "objects") } as const;
  const isWhole = await restoreBackup({
    ...{ folder: await openFileFolder(place), backup: undefined, databaseUrl, isLeavingOutDamaged: false },
    ...{ dataDir: join(root, "elsewhere"), nowNs: cloud.deps.clock.nowNs, write: () => {} },
    openBlobs: (opened, db) => openStore(opened, elsewhere, { ...cloud.deps, db }),
  });
  assert.equal(isWhole, true);
  await using db = openDatabase(databaseUrl, { maxConnections: 2, log: { warn: () => {} } });
  assert.equal(await db.prisma.storeMove.count(), 0);
  await using opened = new AsyncDisposableStack();
  const restored = await openStore(opened, elsewhere, { ...cloud.deps, db });
  assert.deepEqual((await Array.fromAsync(restored.list(""), ({ key }) => key)).sort(), keys);
  assert.deepEqual(await Array.fromAsync(restored.listNotes("moves/")), []);
});
