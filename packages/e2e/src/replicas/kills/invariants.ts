import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import type { Client } from "@downlink/client";
import { api, NEXT_CURSOR_HEADER, type Recording } from "@downlink/protocol";
import { eventually } from "@downlink/recordings/testing";
import { placesSentAgain } from "../../faults/invariants.ts";
import { type Acknowledged, DEVICE } from "./clients.ts";
import { readJobJournal } from "./job-journal.ts";
import type { KillBed } from "./kill-bed.ts";
import { longestSilenceMs, type Wait } from "./longest-silence.ts";
import type { LoadedRobot } from "./robots.ts";

/** Without faults the remaining work takes seconds, and a job of a dead process is taken over within half a minute. */
const PATIENCE_MS = 120_000;
const PAGE = 2000;
const LONGEST_SILENCE_MS = 30_000;

/** Waits until all work is done, and checks the invariants 1 to 8. spec: reliability */
export async function assertInvariants(bed: KillBed, acknowledged: Acknowledged): Promise<LongestWaits> {
  const settled = new Map<LoadedRobot, readonly Recording[]>();
  for (const robot of bed.robots) settled.set(robot, await untilSettled(bed, robot));
  await untilNoJobs(bed);
  const objects = await bed.countObjects();
  for (const [robot, recordings] of settled) await assertRobot(robot, { recordings, objects });
  await assertUploads(bed, { acknowledged, objects });
  await assertEvents(bed, acknowledged);
  await assertRows(bed);
  return await assertPromptImports(bed);
}

/** Checks invariant 5: every requested import is completed without help. */
async function untilSettled({ set }: KillBed, { deviceId, files }: LoadedRobot): Promise<Recording[]> {
  const admin = set.makeClient(20);
  return await eventually(
    () => listAll(admin, { deviceId }),
    (all) => all.length === files.size && all.every(({ importStatus }) => importStatus === "complete"),
    PATIENCE_MS,
  );
}

/** A long run makes more recordings than a page may have. */
async function listAll(admin: Client, device: { deviceId?: string; deviceName?: string }): Promise<Recording[]> {
  const all: Recording[] = [];
  let cursor: string | undefined;
  do {
    const query = { ...device, sortBy: "createdAt", limit: PAGE, cursor } as const;
    const { output, headers } = await admin.callWithHeaders(api.recordings.list, query);
    all.push(...output);
    cursor = headers[NEXT_CURSOR_HEADER];
  } while (cursor !== undefined);
  return all;
}

/** Waits until no job runs or waits. Jobs with a schedule, such as the sweep, do not count. */
async function untilNoJobs({ set }: KillBed): Promise<void> {
  await eventually(
    () => set.postgres.query<{ name: string; state: string }>(OPEN_JOBS),
    (jobs) => jobs.length === 0,
    PATIENCE_MS,
  );
}

/** The removal of an object is delayed after a restart of Postgres, because the database may have been set back. */
const OPEN_JOBS = `SELECT name, state::text, data FROM pgboss.job
  WHERE state <> 'completed' AND (name IN ('ingest', 'ingest-large', 'salvage') OR name LIKE 'remove-object%' AND start_after < now())`;

interface Stored {
  readonly recordings: readonly Recording[];
  readonly objects: ReadonlyMap<string, number>;
}

/** Checks the invariants 1 to 4: each file is one recording, stored once and byte for byte, and only stored files were deleted. */
async function assertRobot(robot: LoadedRobot, { recordings, objects }: Stored): Promise<void> {
  assert.deepEqual(
    recordings.map(({ path }) => path).sort(),
    [...robot.files.keys()].sort(),
    "a file is one recording",
  );
  for (const [path, sha256] of robot.files)
    assert.equal(objects.get(sha256), 1, `${path} of ${robot.name} is stored once, byte for byte`);
  const onDevice = new Set(await readdir(robot.storageRoot));
  if (robot.name === "keeping")
    for (const path of robot.files.keys()) assert.ok(onDevice.has(path), `${path} stays on the device`);
  assert.deepEqual(await placesSentAgain(robot.journal), [], "a part that was acknowledged is not sent again");
}

async function assertUploads(
  { set }: KillBed,
  { acknowledged, objects }: { acknowledged: Acknowledged; objects: ReadonlyMap<string, number> },
): Promise<void> {
  const uploaded = await listAll(set.admin, { deviceName: DEVICE });
  assert.equal(uploaded.length, acknowledged.uploads.size, "each upload is one recording");
  for (const { path, importStatus } of uploaded) assert.equal(importStatus, "complete", path);
  // Another attempt of a dead process may exist, whole or in part, until the sweep ends it.
  for (const [id, sha256] of acknowledged.uploads) assert.ok(objects.has(sha256), `${id} is stored byte for byte`);
}

async function assertEvents({ set }: KillBed, { events }: Acknowledged): Promise<void> {
  const rows = await set.postgres.query<{ id: string }>(`SELECT id FROM "Event"`);
  assert.deepEqual(rows.map(({ id }) => id).sort(), [...events.values()].sort(), "what was answered was made, once");
}

/** Selects each import, from the moment at which its file was stored. */
const WAITS = `SELECT r.id AS "requestId", (u."updatedAtNs" / 1e6)::float AS "fromMs", (i."importedAtNs" / 1e6)::float AS "untilMs"
  FROM "ImportRequest" r JOIN "Import" i ON i.id = r."importId" JOIN "Upload" u ON u."requestId" = r.id AND u.state = 'stored'`;

/** Each statement finds nothing unless something is wrong, and its name says what that is. */
const wrongRows: Readonly<Record<string, string>> = {
  "invariant 4: a recording that was imported twice": `SELECT "recordingId" FROM "Import" GROUP BY 1 HAVING count(*) > 1`,
  "invariant 5: a request that nobody brings to its end": `SELECT id, state FROM "ImportRequest"
    WHERE state NOT IN ('complete', 'error', 'cancelled') AND NOT (source = 'upload' AND state = 'awaiting')`,
  "an import that failed": `SELECT id, "errorCode", "errorText" FROM "ImportRequest" WHERE state = 'error'`,
  "invariant 4: a request that two uploads delivered": `SELECT "requestId" FROM "Upload"
    WHERE state = 'stored' GROUP BY 1 HAVING count(*) > 1`,
  "invariant 6: an object that two uploads name": `SELECT "blobKey" FROM "Upload" GROUP BY 1 HAVING count(*) > 1`,
  "invariant 7: an import whose event was written not once": `SELECT i.id FROM "Import" i
    LEFT JOIN "OutboxEvent" o ON o.type = 'recording.imported' AND o.payload::text LIKE '%' || i."recordingId" || '%'
    GROUP BY i.id HAVING count(o.id) <> 1`,
  "invariant 8: a device with two agents": `SELECT id FROM "Agent" WHERE "clonedAtNs" IS NOT NULL`,
};

async function assertRows({ set }: KillBed): Promise<void> {
  for (const [wrong, sql] of Object.entries(wrongRows)) assert.deepEqual(await set.postgres.query(sql), [], wrong);
}

/** How long imports waited at most, from the moments at which their files were stored. */
export interface LongestWaits {
  readonly seconds: number;
  /** The longest time in which no process did anything for an import that waited. */
  readonly silenceSeconds: number;
}

/** Fails if an import waited for a dead process for more than half a minute. */
async function assertPromptImports(bed: KillBed): Promise<LongestWaits> {
  const waits = await bed.set.postgres.query<Wait & Record<string, unknown>>(WAITS);
  const steps = await readJobJournal(bed.set);
  const silences = waits.map((wait) => ({ ...wait, silenceMs: longestSilenceMs(wait, steps) }));
  const long = silences.filter(({ silenceMs }) => silenceMs > LONGEST_SILENCE_MS);
  assert.deepEqual(long, [], "an import waited for a dead process for more than half a minute");
  return {
    seconds: Math.max(0, ...waits.map(({ fromMs, untilMs }) => untilMs - fromMs)) / 1000,
    silenceSeconds: Math.max(0, ...silences.map(({ silenceMs }) => silenceMs)) / 1000,
  };
}
