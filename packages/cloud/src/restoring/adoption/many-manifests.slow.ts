import assert from "node:assert/strict";
import { after, mock, test } from "node:test";
import timers from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { withTransaction } from "../../db/transaction.ts";
import { writeText } from "../../keeping/manifests/manifest.ts";
import { nameOf, numberedManifest } from "../../keeping/manifests/testing/numbered-manifest.ts";
import { openIncarnation } from "../../recovery/incarnations.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { walkStore } from "./walk.ts";

const UPLOADS = 100_000;
/** The database has lost one of so many uploads. */
const LOST_EVERY = 1000;
const MOST_HELD_BYTES = 40 * 1024 * 1024;

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;
mock.method(timers, "setTimeout", async () => undefined); // the walk need not rest

const cloud = await startCloud({ after }, { works: false });
const { deps } = cloud;
const { prisma } = deps.db;
const { orgId, id: projectId } = await prisma.project.findFirstOrThrow();
const { id: siteId } = await prisma.site.findFirstOrThrow();

const isLost = (number: number) => number % LOST_EVERY === 0;

const manifestOf = (number: number) => numberedManifest({ orgId, projectId, siteId }, number);

/** Makes a store that seems to have all uploads, because it computes each answer. */
function storeOf(noteHeld: () => void): typeof deps.blobs {
  return {
    ...deps.blobs,
    async *listNotes(prefix: string) {
      if (prefix !== "manifests/") return;
      for (let number = 0; number < UPLOADS; number++) {
        for (const kind of ["begun", "import"])
          yield { key: `manifests/${orgId}/upl_${nameOf(number)}/${kind}`, modifiedAtMs: 1 };
        if (number % 10_000 === 0) noteHeld();
      }
    },
    getNote: async (key) => writeText(manifestOf(Number(/upl_(\d+)/.exec(key)![1]))),
    stat: async () => ({ sizeBytes: 1000, modifiedAtMs: 1, etag: "e" }),
  };
}

/** Inserts the uploads that the database has not lost. */
async function insertKnown(): Promise<void> {
  await prisma.$executeRaw`
    INSERT INTO "Recording" (id, "orgId", "projectId", path, "sizeBytes", "startNs", "endNs", "durationNs", format, "messageCount",
      metadata, "createdAtNs", "importStatus", "isEdge", "blobKey", "indexKey")
    SELECT 'rec_' || n, ${orgId}, ${projectId}, n || '.mcap', 1000, 1, 2, 1, 'mcap', 1, '[]', 1, 'complete', false,
      ${orgId} || '/upl_' || n, ${orgId} || '/idx_' || n
    FROM (SELECT lpad(i::text, 26, '0') AS n FROM generate_series(0, ${UPLOADS} - 1) i WHERE i % ${LOST_EVERY} <> 0) all_of_them`;
}

test("a walk through 100,000 manifests needs the memory of one page, and finds the uploads that the database has lost", async () => {
  await insertKnown();
  const held: number[] = [];
  const noteHeld = () => {
    collectGarbage();
    held.push(process.memoryUsage().heapUsed);
  };
  noteHeld();
  await withTransaction(deps.db, (tx) => openIncarnation(tx, { reason: "a test", nowNs: deps.clock.nowNs() }));
  const replayLedger = async () => undefined;
  await walkStore({ ...deps, replayLedger, blobs: storeOf(noteHeld) }, new AbortController().signal);
  noteHeld();
  assert(Math.max(...held) - held[0]! < MOST_HELD_BYTES, `it held ${held.map((bytes) => bytes >> 20).join(", ")} MiB`);
  assert.equal((await prisma.deployment.findFirstOrThrow()).recoveringSinceNs, null);
  const adopted = await prisma.recording.findMany({ where: { isUnverified: true }, orderBy: { id: "asc" } });
  const lost = Array.from({ length: UPLOADS }, (_, number) => number).filter(isLost);
  assert.deepEqual(
    adopted.map(({ id, contentSha256 }) => [id, contentSha256]),
    lost.map((number) => [manifestOf(number).recordingId, manifestOf(number).sha256]),
  );
  assert.equal((await prisma.adoption.findFirstOrThrow()).looked, UPLOADS);
});
