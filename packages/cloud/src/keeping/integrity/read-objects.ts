import { Prisma } from "../../db/generated/client.ts";
import { withTransaction } from "../../db/transaction.ts";
import { compareObject } from "../../import-life/compare-object.ts";
import { type MarkDeps, markDamaged } from "../../import-life/mark-damaged.ts";
import type { BlobStore } from "../../store/blobs/blob-store.ts";
import type { Finding } from "./finding.ts";
import type { Session } from "./listed-objects.ts";
import { type Promised, RECORDING, readPromised } from "./promised-objects.ts";
import { pagesOf } from "./suspects.ts";

interface Reading extends MarkDeps {
  readonly session: Session;
  readonly blobs: Pick<BlobStore, "open">;
  /** How many of the objects, in per cent, are read; they are drawn again each time. */
  readonly percent: number;
}

/**
 * Yields objects whose bytes differ from the stored hash, or that cannot be read. Every mismatch is read once more. A recording is marked
 * as damaged, or was verified at this moment; one that a store that does not answer keeps from being read is neither.
 */
export async function* findAlteredObjects(reading: Reading): AsyncGenerator<Finding, void> {
  const { session, percent } = reading;
  const isDrawn = Prisma.sql`random() * 100 < ${percent}::float8`;
  const drawn = Prisma.sql`SELECT * FROM promised WHERE sha256 IS NOT NULL AND ${isDrawn} ORDER BY key`;
  for await (const page of pagesOf<Promised>(session, drawn)) {
    const beganNs = reading.clock.nowNs();
    const whole: Promised[] = [];
    for (const promised of page) {
      const found = await readTwice(reading, promised);
      if (found === "whole") whole.push(promised);
      else if (found !== "absent") yield found;
    }
    await noteWhole(reading, whole, beganNs);
  }
}

async function readTwice(reading: Reading, promised: Promised): Promise<Read> {
  const first = await readOnce(reading, promised);
  if (first.damage === "none") return "whole";
  const isStillThere = (await readPromised(reading.session, [promised.key])).some(({ id }) => id === promised.id);
  const { damage, finding } = isStillThere ? await readOnce(reading, promised) : first;
  if (!isStillThere || damage === "missing" || damage === "truncated") return "absent"; // it is found without reading it
  if (damage === "none") return "whole";
  if (damage === "altered" && promised.what === RECORDING) await markDamaged(reading, promised.key, damage);
  return finding!;
}

type Read = "whole" | "absent" | Finding;

async function readOnce({ blobs }: Reading, { what, id, key, sizeBytes, sha256 }: Promised) {
  const finding = (kind: Finding["kind"], text: string): Finding => ({
    ...{ kind, subject: key, text: `${text}; ${what} ${id} needs it` },
  });
  try {
    const fault = await compareObject(blobs, { key, sizeBytes: BigInt(sizeBytes!), sha256: sha256! });
    if (!fault) return { damage: "none", finding: undefined } as const;
    return { damage: fault.damage, finding: finding("altered object", fault.text) };
  } catch (error) {
    return { damage: "unknown", finding: finding("unreadable object", (error as Error).message) } as const;
  }
}

/** A recording that is marked needs more than this: a job reads it. */
async function noteWhole({ db, jobs }: Reading, whole: readonly Promised[], verifiedAtNs: bigint): Promise<void> {
  const blobKey = { in: whole.filter(({ what }) => what === RECORDING).map(({ key }) => key) };
  await db.prisma.recording.updateMany({ where: { blobKey, storedDamage: null }, data: { verifiedAtNs } });
  const where = { blobKey, storedDamage: { not: null } };
  const marked = await db.prisma.recording.findMany({ where, select: { id: true, orgId: true } });
  for (const { id, orgId } of marked) await withTransaction(db, (tx) => jobs.enqueueReading(tx, orgId, [id]));
}
