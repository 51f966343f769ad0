// A set as one tar archive. It is computed from the rows of its files, so that any range of it can be sent without what comes before.

import type { Hono } from "hono";
import type { Env } from "../../calls/connections/env.ts";
import type { Deps } from "../../calls/context/context.ts";
import { sendBlob } from "../../calls/data-plane/download.ts";
import { logBreak } from "../../calls/data-plane/link-request.ts";
import { openMadeLink } from "../../calls/data-plane/made-link.ts";
import type { Sendable } from "../../calls/data-plane/slice-of.ts";
import { ApiError } from "../../core/errors.ts";
import type { TrainingFileModel } from "../../db/generated/models.ts";
import type { BlobStore, ByteRange } from "../../store/blobs/blob-store.ts";

export const ARCHIVE_PATH = "/data-plane/training-sets";

type Archived = Pick<TrainingFileModel, "path" | "sizeBytes" | "blobKey">;
type OpenDeps = Pick<Deps, "db" | "clock">;

/** Returns the files of a set that is ready, by the bytes of their paths. Throws NotFound where it has none any more. */
export async function findArchived({ db, clock }: OpenDeps, setId: string): Promise<TrainingFileModel[]> {
  const where = { id: setId, state: "ready", expiresAtNs: { gt: clock.nowNs() } } as const;
  const set = await db.prisma.trainingSet.findFirst({ where, include: { files: true } });
  if (!set) throw new ApiError("NotFound", `the training set ${setId} has no files any more`);
  return set.files.sort((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)));
}

/** Serves the links to archives, whole or in ranges. */
export function archiveRoute(app: Hono<Env>, deps: Deps): void {
  app.get(`${ARCHIVE_PATH}/:id/:fileName`, async (c) => {
    using link = await openMadeLink(c, deps);
    const { setId, fileName } = link.claims;
    const files = await findArchived(deps, setId!);
    return await sendBlob(c, openArchive(deps.blobs, files), {
      ...{ etag: setId!, mediaType: "application/x-tar", fileName: fileName! },
      ...{ controller: link.gone, onFailure: logBreak(c, deps) },
    });
  });
}

const BLOCK_BYTES = 512;
/** Two empty blocks. */
const END_BYTES = 2 * BLOCK_BYTES;

/** Returns the size of the archive of some files. */
export function archiveBytes(files: readonly Archived[]): number {
  return files.reduce((sum, file) => sum + entryBytes(file), END_BYTES);
}

function entryBytes({ sizeBytes }: Archived): number {
  return BLOCK_BYTES + Math.ceil(Number(sizeBytes) / BLOCK_BYTES) * BLOCK_BYTES;
}

/** Opens the archive of some files, in their order. */
export function openArchive(blobs: Pick<BlobStore, "open">, files: readonly Archived[]): Sendable {
  const sizeBytes = archiveBytes(files);
  return { sizeBytes, stream, [Symbol.asyncDispose]: async () => undefined };

  async function* stream(range: ByteRange = { start: 0, endInclusive: sizeBytes - 1 }, signal?: AbortSignal) {
    let at = 0;
    for (const file of files) {
      const entry = { start: range.start - at, endInclusive: range.endInclusive - at };
      if (entry.endInclusive < 0) return;
      if (entry.start < entryBytes(file)) yield* streamEntry(blobs, { file, entry, signal });
      at += entryBytes(file);
    }
    yield new Uint8Array(END_BYTES).subarray(Math.max(0, range.start - at), Math.max(0, range.endInclusive - at + 1));
  }
}

interface Entry {
  readonly file: Archived;
  /** May begin before it and end behind it. */
  readonly entry: ByteRange;
  readonly signal: AbortSignal | undefined;
}

async function* streamEntry(
  blobs: Pick<BlobStore, "open">,
  { file, entry, signal }: Entry,
): AsyncGenerator<Uint8Array> {
  const { start, endInclusive } = entry;
  const sizeBytes = Number(file.sizeBytes);
  const head = makeHeader(file).subarray(Math.max(0, start), Math.max(0, endInclusive + 1));
  if (start < BLOCK_BYTES) yield head;
  const data = {
    start: Math.max(0, start - BLOCK_BYTES),
    endInclusive: Math.min(sizeBytes, endInclusive - BLOCK_BYTES + 1) - 1,
  };
  if (data.start <= data.endInclusive) {
    await using reader = await blobs.open(file.blobKey);
    yield* reader.stream(data, signal);
  }
  const from = Math.max(start, BLOCK_BYTES + sizeBytes);
  const to = Math.min(endInclusive + 1, entryBytes(file));
  if (from < to) yield new Uint8Array(to - from);
}

const NAME_BYTES = 100;
/** The greatest size in octal digits. */
const MAX_OCTAL = 8 ** 11 - 1;

/** Makes the header of a file that anyone may read, without a time. source: POSIX.1-2017, pax, ustar Interchange Format */
function makeHeader({ path, sizeBytes }: Archived): Buffer {
  const header = Buffer.alloc(BLOCK_BYTES);
  const octal = (value: number, digits: number) => value.toString(8).padStart(digits, "0");
  const cut = Buffer.byteLength(path) > NAME_BYTES ? path.indexOf("/", path.length - NAME_BYTES - 1) : -1;
  header.write(path.slice(cut + 1), 0);
  header.write(octal(0o644, 7), 100);
  header.write(octal(0, 7), 108);
  header.write(octal(0, 7), 116);
  if (sizeBytes <= MAX_OCTAL) header.write(octal(Number(sizeBytes), 11), 124);
  else {
    header.writeUInt8(0x80, 124); // as GNU tar writes it, in binary
    header.writeBigUInt64BE(sizeBytes, 128);
  }
  header.write(octal(0, 11), 136);
  header.write(" ".repeat(8), 148);
  header.write("0", 156);
  header.write("ustar\u000000", 257);
  header.write(path.slice(0, Math.max(0, cut)), 345);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${octal(sum, 6)}\0 `, 148);
  return header;
}
