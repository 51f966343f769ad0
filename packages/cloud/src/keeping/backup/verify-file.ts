import { createHash } from "node:crypto";
import type { Folder } from "../../store/blobs/folder.ts";
import { DamagedBackupError } from "./backup-errors.ts";
import type { BackupFile } from "./backup-record.ts";
import { readLines } from "./lines.ts";

export async function openFile(folder: Folder, { name }: BackupFile): Promise<AsyncIterable<Uint8Array>> {
  const body = await folder.read(name);
  if (!body) throw new DamagedBackupError(`${name} is not there`);
  return body;
}

/** Yields the same pieces; throws at the end if the file differs from the record. */
export async function* verifyPieces(body: AsyncIterable<Uint8Array>, { name, sizeBytes, sha256 }: BackupFile) {
  const hash = createHash("sha256");
  let readBytes = 0;
  for await (const piece of body) {
    hash.update(piece);
    readBytes += piece.byteLength;
    yield piece;
  }
  if (readBytes !== sizeBytes || hash.digest("hex") !== sha256)
    throw new DamagedBackupError(`${name} is not what was written`);
}

/** Reads a short file. */
export async function readVerified(folder: Folder, file: BackupFile): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(verifyPieces(await openFile(folder, file), file)));
}

/** Yields the lines of a short file. */
export async function* readVerifiedLines<Line>(folder: Folder, file: BackupFile): AsyncGenerator<Line, void> {
  yield* readLines<Line>(toStream(await readVerified(folder, file)));
}

async function* toStream(bytes: Buffer) {
  yield bytes;
}
