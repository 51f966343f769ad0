import assert from "node:assert/strict";
import { after, mock, test } from "node:test";
import timers from "node:timers/promises";
import { keepHeapSmall, withSmallHeap } from "../../core/heap-growth.ts";
import { openDatabase } from "../../db/client.ts";
import { createTestDatabase } from "../../testing/test-database.ts";
import { checkDeployment } from "./check-deployment.ts";

const OBJECTS = 100_000;
const MOST_RSS_BYTES = 300 * 1024 * 1024;
const STEP_MS = 50;
const ROWS_PER_STATEMENT = 50_000;

keepHeapSmall(); // as the command does
mock.method(timers, "setTimeout", async () => undefined); // it need not rest
const stack = new AsyncDisposableStack();
after(() => stack.disposeAsync());
const db = stack.use(openDatabase(await createTestDatabase({ after }), { maxConnections: 4, log: { warn: () => {} } }));
const run = (sql: string) => db.pool.query(sql);
const keyOf = (number: number) => `org_1/upl_${String(number).padStart(26, "0")}`;

test(`a check of ${OBJECTS} objects, of which every hundredth is missing, takes no more than 300 MB`, async () => {
  await storeRecordings();
  const isMissing = (key: string) => key.endsWith("00");
  const list = async function* () {
    for (let number = 1; number <= OBJECTS; number += 1)
      if (!isMissing(keyOf(number))) yield { key: keyOf(number), isWhole: true, sizeBytes: 1000, modifiedAtMs: 0 };
  };
  const stat = async (key: string) => (isMissing(key) ? undefined : { sizeBytes: 1000, modifiedAtMs: 0, etag: "" });
  const listNotes = async function* () {
    for (let number = 1; number <= OBJECTS; number += 1)
      for (const kind of ["begun", "import"]) yield { key: `manifests/${keyOf(number)}/${kind}`, modifiedAtMs: 0 };
  };
  const unread = () => Promise.reject(new Error("it is not read"));
  const blobs = { check: async () => undefined, list, listNotes, stat, open: unread, getNote: unread, putNote: unread };
  const jobs = {
    enqueue: async () => {},
    enqueueAll: async () => {},
    enqueueIndexing: async () => {},
    enqueueReading: async () => {},
    enqueueThumbnails: async () => {},
    enqueueRemovals: async () => {},
  };
  const clock = { nowNs: () => BigInt(Date.now()) * 1_000_000n };
  const options = { readPercent: 0, isRepairing: false, nowMs: Date.now() };
  const beforeBytes = process.memoryUsage.rss();
  let rssBytes = 0;
  const sampling = setInterval(() => (rssBytes = Math.max(rssBytes, process.memoryUsage.rss())), STEP_MS);
  const startedMs = performance.now();
  let findings = 0;
  await withSmallHeap(async () => {
    for await (const { kind } of checkDeployment({ db, blobs, jobs, clock }, options)) {
      assert.equal(kind, "missing object");
      findings += 1;
    }
  });
  clearInterval(sampling);
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  console.log(
    `${OBJECTS} objects: ${seconds} s, ${inMegabytes(beforeBytes)} MB before, ${inMegabytes(rssBytes)} MB at most`,
  );
  assert.equal(findings, Math.floor(OBJECTS / 100));
  assert.ok(rssBytes > 0 && rssBytes < MOST_RSS_BYTES, `${rssBytes} bytes`);
});

function inMegabytes(bytes: number): number {
  return Math.round(bytes / 2 ** 20);
}

/** Inserts complete recordings, each with an object and its import. */
async function storeRecordings(): Promise<void> {
  await run(`INSERT INTO "Organization" (id, name, "createdAtNs") VALUES ('org_1', 'one', 1)`);
  await run(`INSERT INTO "Project" (id, "orgId", name, "createdAtNs") VALUES ('prj_1', 'org_1', 'one', 1)`);
  for (let first = 1; first <= OBJECTS; first += ROWS_PER_STATEMENT)
    await storeSome(first, first + ROWS_PER_STATEMENT - 1);
  await run("ANALYZE");
}

async function storeSome(first: number, last: number): Promise<void> {
  await run(`INSERT INTO "Recording" (id, "orgId", "projectId", path, "sizeBytes", "startNs", "endNs", "durationNs", format,
      "messageCount", metadata, "createdAtNs", "importStatus", "importedAtNs", "importId", "isEdge", "contentSha256", "blobKey")
    SELECT 'rec_' || n, 'org_1', 'prj_1', n || '.mcap', 1000, n, n + 1, 1, 'mcap', 1, '[]', n, 'complete', n, 'imp_' || n, false,
      'hash', 'org_1/upl_' || lpad(n::text, 26, '0')
    FROM generate_series(${first}, ${last}) n`);
  await run(`INSERT INTO "Import" (id, "orgId", "projectId", "recordingId", "siteId", filename, "importedAtNs", "startNs", "endNs",
      format, "sizeBytes")
    SELECT 'imp_' || n, 'org_1', 'prj_1', 'rec_' || n, 'site', n || '.mcap', n, n, n + 1, 'mcap', 1000
    FROM generate_series(${first}, ${last}) n`);
}
