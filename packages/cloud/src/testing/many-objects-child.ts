// Runs the sweep, the check or the walk after a restore over a store that seems to have so many objects, because it computes each answer:
// `many-objects-child.ts sweep|check|adoption 1000000`. `npm run bench:objects` starts it, and inserts the rows.

import { pino } from "pino";
import { readConfig } from "../config.ts";
import { boundHeapGrowth, keepHeapSmall, withSmallHeap } from "../core/heap-growth.ts";
import { withTransaction } from "../db/transaction.ts";
import { type OpenDeps, openDeps } from "../deps.ts";
import { checkDeployment } from "../keeping/integrity/check-deployment.ts";
import { writeText } from "../keeping/manifests/manifest.ts";
import { nameOf, numberedManifest } from "../keeping/manifests/testing/numbered-manifest.ts";
import { sweep } from "../keeping/sweep/sweep.ts";
import { openIncarnation } from "../recovery/incarnations.ts";
import { walkStore } from "../restoring/adoption/walk.ts";
import { replayLedger } from "../restoring/replay/replay-ledger.ts";
import type { BlobStore } from "../store/blobs/blob-store.ts";

const STEP_MS = 20;
const OLDER_THAN_HOURS = 168;
const [task = "", count = "", orgId = "", projectId = "", siteId = ""] = process.argv.slice(2);
const objects = Number(count);
const never = new AbortController().signal;
const keyOf = (number: number) => `${orgId}/upl_${nameOf(number)}`;

/** Each returns how many findings it had, or how many recordings it brought back. */
const tasks: Readonly<Record<string, (deps: OpenDeps) => Promise<number>>> = {
  async sweep(deps) {
    const options = { isDryRun: false, olderThanHours: OLDER_THAN_HOURS, includesUnknown: false, nowMs: Date.now() };
    return await countOf(sweep(deps, options));
  },
  async check(deps) {
    return await countOf(checkDeployment(deps, { readPercent: 0, isRepairing: false, nowMs: Date.now() }));
  },
  async adoption(deps) {
    await withTransaction(deps.db, (tx) => openIncarnation(tx, { reason: "a benchmark", nowNs: deps.clock.nowNs() }));
    await walkStore({ ...deps, replayLedger: () => replayLedger(deps, never) }, never);
    return (await deps.db.prisma.adoption.findFirstOrThrow()).adopted;
  },
};

const run = tasks[task];
if (!run) throw new Error(`no task is named ${task}`);
const isCommand = task !== "adoption";
if (isCommand) keepHeapSmall();
else boundHeapGrowth();
await using opened = await openDeps(readConfig(process.env), pino({ level: "warn" }));
const deps = { ...opened, blobs: storeOf(opened.blobs) };
let mostBytes = process.memoryUsage.rss();
const idleBytes = mostBytes;
const sampling = setInterval(() => {
  mostBytes = Math.max(mostBytes, process.memoryUsage.rss());
}, STEP_MS);
process.stdout.write("begins\n");
const findings = await (isCommand ? withSmallHeap(() => run(deps)) : run(deps));
clearInterval(sampling);
process.stdout.write(`result ${JSON.stringify({ findings, idleBytes, mostBytes })}\n`);

async function countOf(findings: AsyncIterable<unknown>): Promise<number> {
  let found = 0;
  for await (const _ of findings) found += 1;
  return found;
}

function storeOf(blobs: BlobStore): BlobStore {
  return {
    ...blobs,
    check: async () => undefined,
    async *list() {
      for (let number = 1; number <= objects; number++)
        yield { key: keyOf(number), isWhole: true, sizeBytes: 1000, modifiedAtMs: 1 };
    },
    async *listNotes(prefix: string) {
      if (prefix === "ledger/")
        for (let number = 1; number <= objects; number++)
          yield { key: `ledger/${String(number).padStart(19, "0")}-0`, modifiedAtMs: 1 };
      if (prefix === "manifests/")
        for (let number = 1; number <= objects; number++)
          for (const kind of ["begun", "import"]) yield { key: `manifests/${keyOf(number)}/${kind}`, modifiedAtMs: 1 };
    },
    getNote: async (key) =>
      writeText(numberedManifest({ orgId, projectId, siteId }, Number(/upl_(\d+)/.exec(key)![1]))),
    stat: async () => ({ sizeBytes: 1000, modifiedAtMs: 1, etag: "e" }),
  };
}
