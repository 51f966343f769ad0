// On a slow link a part may come in pieces of 64 KiB and more, from its beginning on, each durable by itself: body → digest and length → a
// file of its own → fdatasync, directory → `held` in the part's journal of pieces (`piece-journal.ts`) → fdatasync. `composePart` makes the
// part of them (`compose-part.ts`); `edge/uploads/pieces.ts` says which pieces are held.

import { open, rm } from "node:fs/promises";
import { join } from "node:path";
import { PieceConflictError, PieceRefusedError, UploadClosedError } from "./blob-errors.ts";
import type { PiecePlan } from "./blob-store.ts";
import { syncDirectory } from "./durable-file.ts";
import { filesOf, type KeyFiles, newPieceName, partOfPieceJournal } from "./file-layout.ts";
import { fillVerified, type KeepBeginning } from "./fill-verified.ts";
import { findFile, listNames } from "./key-files.ts";
import { openPartBuffer, type PartBuffer } from "./part-buffer.ts";
import { type JournalState, openJournal } from "./part-journal.ts";
import type { PartMemory } from "./part-memory.ts";
import { findPieceJournal, makePieceJournal, type PieceJournal } from "./piece-journal.ts";
import { checkPiece, MOST_PARTS_IN_PIECES, placePiece } from "./piece-plan.ts";

/**
 * Implements BlobStore.receivePiece. The bytes become durable in a file of their own that no other call writes, and count as soon as their
 * line is in the part's journal of pieces. So of two writers neither can overwrite what was acknowledged to the other, and a crash leaves
 * only a file that no line names.
 */
export async function receivePiece(
  store: { root: string; memory: PartMemory },
  key: string,
  sent: { piece: PiecePlan; body: AsyncIterable<Uint8Array> },
): Promise<void> {
  const { piece, body } = sent;
  const files = filesOf(store.root, key);
  const known = await readParts(key, files);
  await checkTakeable(files, known, piece);
  if (await isHeld(files, piece)) return;
  await using buffer = await openPartBuffer(files, piece.lengthBytes, store.memory);
  const keep: KeepBeginning = (beginning, came) => receivePiece(store, key, { piece: beginning, body: came });
  await fillVerified(buffer, { ...piece, name: nameOf(piece), keep }, body);
  await readParts(key, files); // nothing is begun for an upload that ended meanwhile
  await using journal = await makePieceJournal(files, piece.partNumber);
  if (placePiece(await journal.readDurable(), piece) === "held") return;
  const fileName = await writeOwnFile(files, piece, buffer);
  await journal.recordHeld({ ...piece, fileName });
  const held = await journal.read();
  if (!held.some((each) => each.fileName === fileName)) {
    await rm(join(files.directory, fileName), { force: true });
    if (placePiece(held, piece) !== "held") throw new PieceConflictError(`${nameOf(piece)} could not be recorded`);
  }
  await checkStillCounts(key, files, journal);
}

async function readParts(key: string, files: KeyFiles): Promise<JournalState> {
  await using journal = await openJournal(key, files);
  return await journal.read();
}

/** The check runs before a byte of the body is read. */
async function checkTakeable(files: KeyFiles, { plan, kept }: JournalState, piece: PiecePlan): Promise<void> {
  checkPiece(plan, piece);
  const { partNumber } = piece;
  if (kept.has(partNumber)) throw new PieceConflictError(`part ${partNumber} is stored as a whole already`);
  const begun = (await listNames(files))
    .map((name) => partOfPieceJournal(files, name))
    .filter((number) => number !== undefined && !kept.has(number));
  if (!begun.includes(partNumber) && begun.length >= MOST_PARTS_IN_PIECES)
    throw new PieceRefusedError(
      `the parts ${begun.join(", ")} are in pieces; no other one may be until one of them is whole`,
    );
}

/** The same bytes again are harmless; others are refused unless they are the next ones. */
async function isHeld(files: KeyFiles, piece: PiecePlan): Promise<boolean> {
  await using journal = await findPieceJournal(files, piece.partNumber);
  return placePiece((await journal?.readDurable()) ?? [], piece) === "held";
}

/** Returns the file's name once its bytes and its name are durable. */
async function writeOwnFile(files: KeyFiles, piece: PiecePlan, buffer: PartBuffer): Promise<string> {
  const fileName = newPieceName(files, piece.partNumber);
  const path = join(files.directory, fileName);
  await using leftovers = new AsyncDisposableStack();
  await using file = await open(path, "wx", 0o600);
  leftovers.defer(() => rm(path, { force: true }));
  await buffer.writeTo(file, 0);
  await file.datasync();
  await syncDirectory(files.directory);
  leftovers.move();
  return fileName;
}

/** A piece that was removed at the same moment is not acknowledged, and nothing is left of an upload that has ended. */
async function checkStillCounts(key: string, files: KeyFiles, journal: PieceJournal): Promise<void> {
  if (!(await findFile(files.journal))) {
    await journal.remove();
    throw new UploadClosedError(key);
  }
  if (!(await journal.isCurrent())) throw new PieceConflictError("the pieces of this part were given up meanwhile");
}

function nameOf({ partNumber, offset }: PiecePlan): string {
  return `the piece at byte ${offset} of part ${partNumber}`;
}
