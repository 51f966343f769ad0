import type { AgentCtx } from "../../calls/context/context.ts";
import { isOfCustomer } from "../../store/blobs/object-key.ts";

const AT_ONCE = 10;

interface Holder {
  readonly blobKey: string;
  readonly sizeBytes: bigint;
}

/**
 * Returns the keys of the objects that hold these versions, or the recordings that they are copies of, and that the store has now with
 * their size. Objects in a customer's bucket do not count, because the customer may remove them at any time. A row alone does not count
 * either, because the database or the store may have been set back. If the store does not answer, this fails.
 */
export async function findSoundObjects(ctx: AgentCtx, versionIds: readonly string[]): Promise<ReadonlySet<string>> {
  const holders = versionIds.length === 0 ? [] : await findHolders(ctx, versionIds);
  const sound = new Set<string>();
  for (let at = 0; at < holders.length; at += AT_ONCE)
    await Promise.all(
      holders.slice(at, at + AT_ONCE).map(async ({ blobKey, sizeBytes }) => {
        const object = await ctx.blobs.stat(blobKey);
        if (object && BigInt(object.sizeBytes) === sizeBytes) sound.add(blobKey);
      }),
    );
  return sound;
}

function findHolders({ db, caller }: AgentCtx, versionIds: readonly string[]): Promise<Holder[]> {
  return db.prisma.$queryRaw<Holder[]>`
    SELECT DISTINCT r."blobKey", r."sizeBytes" FROM "Agent" a CROSS JOIN unnest(${versionIds}::text[]) AS wanted(id)
    CROSS JOIN LATERAL (
      SELECT "recordingId" FROM "EdgeFile" WHERE "agentId" = a.id AND "versionId" = wanted.id LIMIT 1
    ) f JOIN "Recording" known ON known.id = f."recordingId"
    JOIN "Recording" r ON r.id IN (known.id, known."duplicateOfId")
    WHERE (a."deviceId" = ${caller.deviceId} OR a."siteId" = ${caller.siteId}) AND r."blobKey" IS NOT NULL`.then(
    (holders) => holders.filter(({ blobKey }) => !isOfCustomer(blobKey)),
  );
}
