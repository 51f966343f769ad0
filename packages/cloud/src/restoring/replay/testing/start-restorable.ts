import type { TestContext } from "node:test";
import { eventually } from "@downlink/recordings/testing";
import { newId } from "../../../db/ids.ts";
import { isDatabaseAway } from "../../../db/sql-state.ts";
import { copyDatabase, dropDatabase, restoreDatabase } from "../../../testing/set-back.ts";
import { startCloud, type TestCloud } from "../../../testing/start-cloud.ts";
import { createTestDatabase } from "../../../testing/test-database.ts";
import { replayLedger } from "../replay-ledger.ts";

const never = new AbortController().signal;

/** Starts a control plane whose database can be set back while it runs. */
export async function startRestorable(t: TestContext) {
  const url = await createTestDatabase(t);
  const cloud = await startCloud(t, { environment: { DATABASE_URL: url } });
  const { prisma } = cloud.deps.db;
  await prisma.$executeRaw`DELETE FROM pgboss.schedule`; // otherwise the walk through the store would replay the ledger, too
  const isBack = async () => {
    try {
      return (await prisma.$queryRaw`SELECT 1`) !== undefined;
    } catch (error) {
      if (isDatabaseAway(error)) return false;
      throw error;
    }
  };
  const ready = async () => {
    for (let at = 0; at < 30; at++) await eventually(isBack, Boolean); // by then every connection of the pool is a new one
  };
  const backup = async () => {
    const copy = await copyDatabase(url);
    t.after(() => dropDatabase(copy));
    await ready();
    return copy;
  };
  const restore = async (copy: string) => {
    await restoreDatabase(url, copy);
    await ready();
  };
  const notes = () => Array.fromAsync(cloud.deps.blobs.listNotes("ledger/"), ({ key }) => key);
  return { ...cloud, prisma, backup, restore, notes, replay: () => replayLedger(cloud.deps, never) };
}

/** Stores a recording whose bytes are the object of a customer's bucket. */
export async function storeRecordingOf(
  { deps }: TestCloud,
  { orgId, id }: { orgId: string; id: string },
): Promise<string> {
  const { prisma } = deps.db;
  const { id: projectId } = await prisma.project.findFirstOrThrow({ where: { orgId } });
  const span = { startNs: 1n, endNs: 2n, durationNs: 1n, messageCount: 1n, metadata: [] };
  const file = { format: "mcap", sizeBytes: 1n, path: "deleted", isEdge: false } as const;
  const data = {
    importStatus: "complete",
    blobKey: `${orgId}/${id}`,
    location: '{"bucket":"theirs","path":"deleted"}',
    createdAtNs: 1n,
  } as const;
  return (await prisma.recording.create({ data: { id: newId("rec"), orgId, projectId, ...span, ...file, ...data } }))
    .id;
}
