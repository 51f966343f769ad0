// An object counts as copied once its bytes were read again from the target, and are those that the source has and that its row promises.

import { createHash, type Hash } from "node:crypto";
import { abortable } from "../../core/abortable.ts";
import { Prisma } from "../../db/generated/client.ts";
import type { Session } from "../../keeping/integrity/listed-objects.ts";
import { BlobDamagedError, BlobNotFoundError } from "../../store/blobs/blob-errors.ts";
import type { BlobStore } from "../../store/blobs/blob-store.ts";
import type { CopyDeps } from "./copy-deps.ts";
import { CopyError } from "./copy-errors.ts";

export interface Planned {
  readonly key: string;
  readonly sizeBytes: string;
  /** The target has something under this key. */
  readonly isHeld: boolean;
  /** The SHA-256 of the row; null if it has none. */
  readonly promised: string | null;
}

/**
 * - `copied` the target has it
 * - `gone` the source does not have it any more
 * - `damaged` its bytes are not what its row promises, or cannot be read
 */
export type Copied = { readonly kind: "copied" | "gone" } | { readonly kind: "damaged"; readonly fault: string };

/** Copies one object, and reads the copy again. Rejects if the target fails. */
export async function copyObject(deps: CopyDeps, session: Session, planned: Planned): Promise<Copied> {
  const { key } = planned;
  if (planned.isHeld && (await isSame(deps, planned))) return { kind: "copied" };
  if (planned.isHeld) await deps.target.delete(key);
  const read = await readInto(deps, planned);
  if (read.kind !== "read") return read;
  const fault = await compare(session, planned, read.sha256);
  if (fault !== undefined) {
    await deps.target.delete(key);
    return { kind: "damaged", fault };
  }
  if ((await hashOf(deps.target, key)) !== read.sha256) {
    await deps.target.delete(key);
    throw new CopyError(`the new store does not have the bytes of ${key} that it took`);
  }
  await recordCopied(deps, planned, read.sha256);
  return { kind: "copied" };
}

/** Checks a copy that a killed command left, because its bytes were not read since. */
async function isSame(deps: CopyDeps, planned: Planned): Promise<boolean> {
  const { key, promised } = planned;
  const found = await hashOf(deps.target, key);
  const isRight = found !== undefined && found === (promised ?? (await hashOf(deps.source, key)));
  if (isRight) await recordCopied(deps, planned, found);
  return isRight;
}

type Read = { readonly kind: "read"; readonly sha256: string } | Copied;

async function readInto({ source, target, signal }: CopyDeps, { key, sizeBytes }: Planned): Promise<Read> {
  const reading: Reading = { hash: createHash("sha256"), failure: undefined };
  try {
    await using reader = await source.open(key);
    await target.put(key, noteSource(abortable(reader.stream(), signal), reading), {
      expectedBytes: Number(sizeBytes),
    });
    return { kind: "read", sha256: reading.hash.digest("hex") };
  } catch (error) {
    signal.throwIfAborted();
    const cause = reading.failure ?? error;
    if (cause instanceof BlobNotFoundError) return { kind: "gone" };
    if (cause instanceof BlobDamagedError || (cause as NodeJS.ErrnoException).code === "EIO")
      return { kind: "damaged", fault: (cause as Error).message };
    throw error;
  }
}

interface Reading {
  readonly hash: Hash;
  failure: unknown;
}

/** Hashes what the source has, and keeps what fails there apart from what fails in the target. */
async function* noteSource(body: AsyncIterable<Uint8Array>, reading: Reading): AsyncGenerator<Uint8Array, void> {
  try {
    for await (const piece of body) {
      reading.hash.update(piece);
      yield piece;
    }
  } catch (error) {
    reading.failure = error;
    throw error;
  }
}

/** The row is read again, because the object may have become another recording's meanwhile. */
async function compare(session: Session, { key, promised }: Planned, sha256: string): Promise<string | undefined> {
  if (promised === null || promised === sha256) return undefined;
  const rows = await session.query<{ sha256: string }>(
    Prisma.sql`SELECT sha256 FROM promised WHERE key = ${key} AND sha256 IS NOT NULL`,
  );
  const other = rows.find((row) => row.sha256 !== sha256);
  return other && `its SHA-256 is ${sha256} instead of ${other.sha256}`;
}

/** Returns undefined if there is no such object. */
async function hashOf(store: Pick<BlobStore, "open">, key: string): Promise<string | undefined> {
  try {
    await using reader = await store.open(key);
    const hash = createHash("sha256");
    for await (const piece of reader.stream()) hash.update(piece);
    return hash.digest("hex");
  } catch (error) {
    if (error instanceof BlobNotFoundError) return undefined;
    throw error;
  }
}

async function recordCopied({ db }: CopyDeps, { key, sizeBytes }: Planned, sha256: string): Promise<void> {
  const row = { sizeBytes: BigInt(sizeBytes), sha256 };
  await db.prisma.movedObject.upsert({ where: { key }, create: { key, ...row }, update: row });
}
