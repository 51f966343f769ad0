import { createHash } from "node:crypto";
import { withTransaction } from "../../db/transaction.ts";
import { type MarkDeps, markDamaged } from "../../import-life/mark-damaged.ts";
import { BlobNotFoundError } from "../../store/blobs/blob-errors.ts";
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
 * as damaged, or was verified at this moment.
 */
export async function* findAlteredObjects(reading: Reading): AsyncGenerator<Finding, void> {
  const { session, percent } = reading;
  const drawn = "SELECT * FROM promised WHERE sha256 IS NOT NULL AND random() * 100 < $1::float8 ORDER BY key";
  for await (const page of pagesOf<Promised>(session, drawn, [percent]))
    for (const promised of page) {
      const finding = await readObject(reading, promised);
      if (finding) yield finding;
    }
}

async function readObject(reading: Reading, promised: Promised): Promise<Finding | undefined> {
  const { session, blobs, clock } = reading;
  const beganNs = clock.nowNs();
  const first = await compareBytes(blobs, promised);
  if (first === "whole") await noteWhole(reading, promised, beganNs);
  if (first === "whole" || first === "absent") return undefined;
  const isStillThere = (await readPromised(session, [promised.key])).some(({ id }) => id === promised.id);
  const second = isStillThere ? await compareBytes(blobs, promised) : "absent";
  if (second === "whole" || second === "absent") return undefined;
  if (promised.what === RECORDING) await markDamaged(reading, promised.key, "altered");
  return second;
}

/** A recording that is marked needs more than this: a job reads it. */
async function noteWhole({ db, jobs }: Reading, promised: Promised, verifiedAtNs: bigint): Promise<void> {
  const { what, id, orgId, key: blobKey } = promised;
  if (what !== RECORDING) return;
  const { count } = await db.prisma.recording.updateMany({
    where: { id, blobKey, storedDamage: null },
    data: { verifiedAtNs },
  });
  if (count === 0) await withTransaction(db, (tx) => jobs.enqueueReading(tx, orgId, [id]));
}

/** An object that does not exist, or has another size, is found without reading it. */
async function compareBytes(
  blobs: Reading["blobs"],
  { what, id, key, sizeBytes, sha256 }: Promised,
): Promise<Finding | "whole" | "absent"> {
  try {
    await using reader = await blobs.open(key);
    if (BigInt(reader.sizeBytes) !== BigInt(sizeBytes!)) return "absent";
    const hash = createHash("sha256");
    for await (const piece of reader.stream()) hash.update(piece);
    const found = hash.digest("hex");
    if (found === sha256) return "whole";
    return {
      kind: "altered object",
      subject: key,
      text: `its SHA-256 is ${found} instead of ${sha256}; ${what} ${id} needs it`,
    };
  } catch (error) {
    if (error instanceof BlobNotFoundError) return "absent";
    return { kind: "unreadable object", subject: key, text: `${(error as Error).message}; ${what} ${id} needs it` };
  }
}
