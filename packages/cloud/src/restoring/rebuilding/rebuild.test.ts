import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Client } from "@downlink/client";
import { api } from "@downlink/protocol";
import { makeMcap, slowTest } from "@downlink/recordings/testing";
import { pino } from "pino";
import { readConfig } from "../../config.ts";
import { CommandError } from "../../core/command-error.ts";
import { type OpenDeps, openDeps } from "../../deps.ts";
import { ingest } from "../../imports/ingest/pipeline.ts";
import { manifestKey } from "../../keeping/manifests/manifest.ts";
import { hashToken, mintToken } from "../../process/credentials/mint.ts";
import { MarkNotes, newMarkName } from "../../recovery/marks.ts";
import { startCloud, type TestCloud } from "../../testing/start-cloud.ts";
import { createRunningClock } from "../../testing/test-clock.ts";
import { createTestDatabase } from "../../testing/test-database.ts";
import { storeSettings } from "../../testing/test-store.ts";
import { putFile } from "../../testing/upload-file.ts";
import { acceptStore } from "../adoption/recover-by-hand.ts";
import { walkStore } from "../adoption/walk.ts";
import { replayLedger } from "../replay/replay-ledger.ts";
import { rebuild } from "./rebuild.ts";

const never = new AbortController().signal;
let minute = 0n;

/** Uploads another file by a link, without indexing it. */
async function send(client: Client, more: { projectId?: string; deviceName?: string; key?: string } = {}) {
  minute += 60n;
  const bytes = await makeMcap({ startNs: (1_760_000_000n + minute) * 1_000_000_000n, durationSeconds: 1 });
  const { link, requestId } = await client.call(api.uploads.create, {
    filename: "a.mcap",
    deviceName: "robot",
    ...more,
  });
  assert.equal((await putFile(link, bytes)).status, 200);
  return requestId;
}

async function importFile({ deps, admin }: TestCloud, { client = admin, ...more }: SendOptions = {}): Promise<string> {
  const requestId = await send(client, more);
  await ingest(deps, requestId, never);
  return (await deps.db.prisma.importRequest.findUniqueOrThrow({ where: { id: requestId } })).recordingId!;
}

type SendOptions = Parameters<typeof send>[1] & { readonly client?: Client };

/** Opens a new database over the store of a control plane whose database is lost. Its marks are old. */
async function openEmpty(t: TestContext, { dataDir }: TestCloud, marksAgeSeconds = 600) {
  const clock = createRunningClock();
  clock.aheadNs = BigInt(marksAgeSeconds) * 1_000_000_000n;
  const adminKey = mintToken("dl_sk");
  const config = readConfig({
    DOWNLINK_DATA_DIR: dataDir,
    DATABASE_URL: await createTestDatabase(t),
    DOWNLINK_ADMIN_KEY: adminKey,
    ...storeSettings(dataDir),
  });
  const deps = await openDeps(config, pino({ level: "silent" }), { clock });
  t.after(() => deps[Symbol.asyncDispose]());
  const lines: string[] = [];
  const run = (isDoing: boolean, more: { signal?: AbortSignal; write?: (line: string) => void } = {}) =>
    rebuild(deps, { isDoing, write: (line) => void lines.push(line), signal: never, ...more });
  return { deps, run, lines, adminKey };
}

/** Returns what users see of the recordings that have data. */
async function shownRecordings({ db }: Pick<OpenDeps, "db">) {
  const rows = await db.prisma.recording.findMany({
    where: { importStatus: "complete" },
    include: { device: true, session: true, project: { include: { org: true } } },
    orderBy: { id: "asc" },
  });
  return rows.map(({ id, contentSha256, blobKey, path, key, startNs, endNs, device, session, project }) => ({
    ...{ id, contentSha256, blobKey, path, key, startNs, endNs, deviceId: device?.id, deviceName: device?.name },
    ...{ projectId: project.id, project: project.name, organization: project.org.name, sessionId: session?.id },
  }));
}

test("of the store alone a lost database has its recordings again, and what was deleted stays deleted", async (t) => {
  const cloud = await startCloud(t, { works: false });
  const { admin, deps } = cloud;
  const { id: projectId } = await admin.call(api.projects.create, { name: "second" });
  const [first] = await admin.call(api.projects.list, {});
  await importFile(cloud, { projectId: first!.id, key: "run 1" });
  await importFile(cloud, { projectId, deviceName: "rover" });
  const deleted = await importFile(cloud, { projectId });
  await admin.call(api.recordings.delete, { keyOrId: deleted });
  const before = await shownRecordings(deps);
  assert.equal(before.length, 2);

  const { deps: found, run, lines, adminKey } = await openEmpty(t, cloud);
  await run(false);
  const [org] = await deps.db.prisma.organization.findMany();
  for (const { project, projectId: id, deviceName, deviceId } of before) {
    const place = `organization default (${org!.id}), project ${project} (${id}), device ${deviceName} (${deviceId}): 1 recording, `;
    assert.ok(
      lines.some((line) => line.startsWith(place)),
      place,
    );
  }
  assert.match(lines.join("\n"), /deleted on purpose, and stay so: 1\n/);
  assert.match(lines.at(-1)!, /nothing was changed/);
  assert.deepEqual([await found.db.prisma.recording.count(), await found.db.prisma.project.count()], [0, 1]);

  await run(true);
  assert.deepEqual(await shownRecordings(found), before);
  const organizations = await found.db.prisma.organization.findMany();
  const ids = organizations.map(({ id }) => id);
  assert.deepEqual(ids, [org!.id], "that of the first start gave way");
  const key = { credential: { tokenSha256: hashToken(adminKey) } };
  assert.equal((await found.db.prisma.apiKey.findFirstOrThrow({ where: key })).orgId, org!.id);
  assert.equal((await found.db.prisma.deployment.findFirstOrThrow()).recoveringSinceNs, null);
  await assert.rejects(run(true), CommandError, "it has recordings now");
});

slowTest("where the ledger has forgotten the names, ids are names, and the rest of the store is counted", async (t) => {
  const cloud = await startCloud(t, { works: false });
  const { blobs } = cloud.deps;
  const other = await cloud.otherOrganization();
  await importFile(cloud, { client: other });
  const missing = await importFile(cloud);
  const unread = await importFile(cloud);
  await send(cloud.admin);
  const rowOf = (id: string) => cloud.deps.db.prisma.recording.findUniqueOrThrow({ where: { id } });
  await blobs.delete((await rowOf(missing)).blobKey!);
  const unreadKey = (await rowOf(unread)).blobKey!;
  await blobs.removeNote(manifestKey(unreadKey, "import"));
  await blobs.putNote(manifestKey(unreadKey, "import"), Buffer.from("{}"));
  await blobs.put(`${unreadKey.split("/")[0]}/upl_unknown`, [Buffer.from("of nobody")].values() as never);
  for await (const { key } of blobs.listNotes("ledger/")) await blobs.removeNote(key);
  const before = (await shownRecordings(cloud.deps)).filter(({ id }) => id !== missing && id !== unread);

  const { deps: found, run, lines } = await openEmpty(t, cloud);
  await run(true);
  const text = lines.join("\n");
  assert.match(
    text,
    /organization (org_\w+) \(its name is lost.*project (prj_\w+) \(its name is lost.*: 1 recording, /,
  );
  assert.match(text, /imported yet, and are imported then: 1\n/);
  assert.match(
    text,
    /1 manifests that are not understood, 1 objects without a manifest, 1 objects that are missing, 0 /,
  );
  const nameless = before.map((row) => ({ ...row, project: row.projectId, organization: row.blobKey!.split("/")[0] }));
  assert.deepEqual(await shownRecordings(found), nameless);
  assert.equal(await found.db.prisma.importRequest.count({ where: { state: "received" } }), 1);
});

slowTest("it goes on where it was killed", async (t) => {
  const cloud = await startCloud(t, { works: false });
  for (let file = 0; file < 40; file++) await importFile(cloud);
  const { deps: found, run } = await openEmpty(t, cloud);
  const { getNote } = found.blobs;
  for (const least of [1, 17, 1]) {
    const killed = new AbortController();
    let reads = 0;
    found.blobs.getNote = async (key) => {
      if (key.startsWith("manifests/") && ++reads === least) killed.abort(new Error("killed"));
      return getNote.call(found.blobs, key);
    };
    await assert.rejects(run(true, { signal: killed.signal }), /killed/);
  }
  found.blobs.getNote = getNote;
  await run(true);
  assert.deepEqual(await shownRecordings(found), await shownRecordings(cloud.deps));
});

slowTest("names come back, too, if the store was accepted before and nothing of it belonged to anybody", async (t) => {
  const cloud = await startCloud(t, { works: false });
  await importFile(cloud);
  const { deps: found, run } = await openEmpty(t, cloud);
  await acceptStore(found);
  await walkStore({ ...found, replayLedger: (signal) => replayLedger(found, signal) }, never);
  assert.equal(await found.db.prisma.recording.count(), 0);
  await run(true);
  assert.deepEqual(await shownRecordings(found), await shownRecordings(cloud.deps));
});

slowTest("it refuses while another control plane writes its marks into the store", async (t) => {
  const cloud = await startCloud(t, { works: false });
  await importFile(cloud);
  const { deps: found, run } = await openEmpty(t, cloud, 118);
  const marks = new MarkNotes(found.blobs);
  const [newest] = await marks.list();
  const writeMark = () => marks.write(newMarkName(newest!.sequence + 1n), newest!);
  const written: Promise<void>[] = [];
  const write = (line: string) => {
    if (line.startsWith("waiting for up to two minutes")) written.push(writeMark());
  };
  await assert.rejects(run(true, { write }), /another control plane uses the object store/);
  assert.equal(written.length, 1);
  await Promise.all(written);
  assert.equal(await found.db.prisma.recording.count(), 0);
});
