import { createHash } from "node:crypto";
import { BlobNotFoundError } from "../../store/blobs/blob-errors.ts";
import type { BlobStore } from "../../store/blobs/blob-store.ts";
import type { Finding } from "./finding.ts";
import type { Session } from "./listed-objects.ts";
import { type Promised, readPromised } from "./promised-objects.ts";
import { pagesOf } from "./suspects.ts";

interface Reading {
  readonly session: Session;
  readonly blobs: Pick<BlobStore, "open">;
  /** How many of the objects, in per cent, are read; they are drawn again each time. */
  readonly percent: number;
}

/** Yields objects whose bytes differ from the stored hash, or that cannot be read. Every mismatch is read once more. */
export async function* findAlteredObjects({ session, blobs, percent }: Reading): AsyncGenerator<Finding, void> {
  const drawn = "SELECT * FROM promised WHERE sha256 IS NOT NULL AND random() * 100 < $1::float8 ORDER BY key";
  for await (const page of pagesOf<Promised>(session, drawn, [percent]))
    for (const promised of page) {
      if ((await compareBytes(blobs, promised)) === undefined) continue;
      const isStillThere = (await readPromised(session, [promised.key])).some(({ id }) => id === promised.id);
      const finding = isStillThere ? await compareBytes(blobs, promised) : undefined;
      if (finding) yield finding;
    }
}

/** An object that does not exist, or is too short, is found without reading it. */
async function compareBytes(
  blobs: Reading["blobs"],
  { what, id, key, sizeBytes, sha256 }: Promised,
): Promise<Finding | undefined> {
  try {
    await using reader = await blobs.open(key);
    if (BigInt(reader.sizeBytes) !== BigInt(sizeBytes!)) return undefined;
    const hash = createHash("sha256");
    for await (const piece of reader.stream()) hash.update(piece);
    const found = hash.digest("hex");
    if (found === sha256) return undefined;
    return {
      kind: "altered object",
      subject: key,
      text: `its SHA-256 is ${found} instead of ${sha256}; ${what} ${id} needs it`,
    };
  } catch (error) {
    if (error instanceof BlobNotFoundError) return undefined;
    return { kind: "unreadable object", subject: key, text: `${(error as Error).message}; ${what} ${id} needs it` };
  }
}
