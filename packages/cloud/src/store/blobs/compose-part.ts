import { createHash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { algorithmOf, type DigestAlgorithm, makeDigest } from "@downlink/protocol";
import { DigestMismatchError, PartsMissingError } from "./blob-errors.ts";
import type { PartPlan, PartReceipt, PiecePlan } from "./blob-store.ts";
import { isSystemError, writeFully } from "./durable-file.ts";
import { filesOf, type KeyFiles, partOfPieceJournal } from "./file-layout.ts";
import { listNames } from "./key-files.ts";
import { openJournal, type PartJournal } from "./part-journal.ts";
import { checkPart } from "./part-plan.ts";
import { findPieceJournal, type HeldPiece, type PieceJournal } from "./piece-journal.ts";
import { checkPiece, endOfPieces } from "./piece-plan.ts";
import { keepPart, refuseOther } from "./receive-part.ts";

const BLOCK_BYTES = 256 * 1024;

/** Implements BlobStore.listPieces. */
export async function listPieces(root: string, key: string, partNumber?: number): Promise<PiecePlan[]> {
  const files = filesOf(root, key);
  await using journal = await openJournal(key, files);
  const { kept } = await journal.readDurable();
  const numbers = partNumber === undefined ? await partsInPieces(files) : [partNumber];
  const open = numbers.filter((number) => !kept.has(number));
  const pieces = await Promise.all(open.map((number) => readPieces(files, number)));
  return pieces.flat().map(({ fileName: _, ...piece }) => piece);
}

/** Throws what BlobStore.grantPieces throws; a piece for which this returns may be sent. */
export async function checkPiecesGrantable(root: string, key: string, pieces: readonly PiecePlan[]): Promise<void> {
  await using journal = await openJournal(key, filesOf(root, key));
  const { plan } = await journal.read();
  for (const piece of pieces) checkPiece(plan, piece);
}

/**
 * Implements BlobStore.composePart. The part is written like one that came whole: only after all its bytes have its digest, and under the
 * same rule that the first writer wins. Its pieces are removed after that, so that the next call makes good a crash in between. If the
 * digest differs, the pieces are forgotten and the part is sent again.
 */
export async function composePart(root: string, key: string, part: PartPlan): Promise<PartReceipt> {
  const files = filesOf(root, key);
  await using journal = await openJournal(key, files);
  const { plan, taken, kept } = await journal.readDurable(part.number);
  checkPart(plan, part);
  refuseOther(part, taken.get(part.number));
  await using pieces = await findPieceJournal(files, part.number);
  if (!kept.has(part.number)) await keepPieces({ key, files, journal, pieces }, part);
  await pieces?.remove();
  return part;
}

interface Composing {
  readonly key: string;
  readonly files: KeyFiles;
  readonly journal: PartJournal;
  readonly pieces: PieceJournal | undefined;
}

async function keepPieces(composing: Composing, part: PartPlan): Promise<void> {
  const { files, journal, pieces } = composing;
  const held = (await pieces?.readDurable()) ?? [];
  const heldBytes = endOfPieces(held);
  if (heldBytes !== part.lengthBytes)
    throw new PartsMissingError(`of part ${part.number} the first ${heldBytes} of ${part.lengthBytes} bytes are held`);
  try {
    if ((await hashPieces(files, held, algorithmOf(part.digest))) !== part.digest) throw isOther(part);
    await keepPart(composing, part, { writeTo: (file, position) => copyPieces(files, held, { file, position }) });
  } catch (error) {
    // Another call composed the part of the same pieces, and removed them.
    if (isSystemError(error, "ENOENT") && (await journal.readDurable(part.number)).kept.has(part.number)) return;
    const isDamaged = isSystemError(error, "ENOENT") || error instanceof DigestMismatchError;
    if (isDamaged) await pieces?.remove();
    throw isDamaged ? isOther(part) : error;
  }
}

function isOther({ number }: PartPlan): DigestMismatchError {
  return new DigestMismatchError(`the pieces of part ${number} together do not have its digest; they are forgotten`);
}

async function partsInPieces(files: KeyFiles): Promise<number[]> {
  const numbers = (await listNames(files)).map((name) => partOfPieceJournal(files, name));
  return numbers.filter((number) => number !== undefined).sort((a, b) => a - b);
}

async function readPieces(files: KeyFiles, partNumber: number): Promise<HeldPiece[]> {
  await using journal = await findPieceJournal(files, partNumber);
  return (await journal?.readDurable()) ?? [];
}

async function hashPieces(files: KeyFiles, held: readonly HeldPiece[], algorithm: DigestAlgorithm): Promise<string> {
  const hash = createHash(algorithm);
  for await (const block of bytesOf(files, held)) hash.update(block);
  return makeDigest(algorithm, hash.digest("base64"));
}

async function copyPieces(
  files: KeyFiles,
  held: readonly HeldPiece[],
  { file, position }: { file: FileHandle; position: number },
): Promise<void> {
  let at = position;
  for await (const block of bytesOf(files, held)) {
    await writeFully(file, block, at);
    at += block.byteLength;
  }
}

/**
 * Yields the bytes in blocks; a block is valid until the next one is requested. Throws {@link DigestMismatchError} for a file that is
 * shorter than its piece.
 */
async function* bytesOf({ directory }: KeyFiles, held: readonly HeldPiece[]): AsyncGenerator<Uint8Array> {
  const memory = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  for (const { fileName, lengthBytes } of held) {
    await using file = await open(join(directory, fileName), "r");
    for (let at = 0; at < lengthBytes; ) {
      const { bytesRead } = await file.read(memory, 0, Math.min(BLOCK_BYTES, lengthBytes - at), at);
      if (bytesRead === 0) throw new DigestMismatchError(`${fileName} ends at ${at} of ${lengthBytes} bytes`);
      yield memory.subarray(0, bytesRead);
      at += bytesRead;
    }
  }
}
