import { constants, type FileHandle, open, rm } from "node:fs/promises";
import { join } from "node:path";
import type { PiecePlan } from "./blob-store.ts";
import { isSystemError } from "./durable-file.ts";
import { type KeyFiles, pieceJournalFile } from "./file-layout.ts";
import { appendLine, readLines, wordsOf } from "./journal-lines.ts";
import { findFile } from "./key-files.ts";
import { endOfPieces } from "./piece-plan.ts";

/** A piece, and the file in the key's directory that holds its bytes and nothing else. */
export interface HeldPiece extends PiecePlan {
  readonly fileName: string;
}

/** Returns undefined if no piece of the part ever came. */
export async function findPieceJournal(files: KeyFiles, partNumber: number): Promise<PieceJournal | undefined> {
  try {
    return await openPieceJournal(files, partNumber, 0);
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return undefined;
    throw error;
  }
}

/** Makes the journal if it is absent; its name is durable once the directory is synced. */
export async function makePieceJournal(files: KeyFiles, partNumber: number): Promise<PieceJournal> {
  return await openPieceJournal(files, partNumber, constants.O_CREAT);
}

async function openPieceJournal(files: KeyFiles, partNumber: number, flags: number): Promise<PieceJournal> {
  const path = pieceJournalFile(files, partNumber);
  const file = await open(path, constants.O_RDWR | constants.O_APPEND | flags, 0o600);
  return new PieceJournal({ file, path, directory: files.directory, partNumber });
}

interface Opened {
  readonly file: FileHandle;
  readonly path: string;
  readonly directory: string;
  readonly partNumber: number;
}

/**
 * The state of the pieces of one part, in lines that are only ever appended (journal-lines.ts). It is a file of its own, so that the
 * upload's journal has only a few lines for each part, and is removed once the whole part is durable.
 *
 * held <offset> <digest> <length> <file>   these bytes are durable in that file. A line counts if it begins where the lines before it that
 *                                          count end: the first writer wins, and there can be no gap and no overlap
 * void <file>                              an earlier `held` of this file does not hold any more
 */
export class PieceJournal implements AsyncDisposable {
  // The file is opened before anything is written to it: its own sync then reports a failed write-back.
  readonly #opened: Opened;

  constructor(opened: Opened) {
    this.#opened = opened;
  }

  /** Reads the pieces from the part's beginning on. */
  async read(): Promise<HeldPiece[]> {
    return chainOf(await readLines(this.#opened.file), this.#opened.partNumber);
  }

  /** Reads a state that survives a power cut: without the sync, another request's line could be read before it is durable. */
  async readDurable(): Promise<HeldPiece[]> {
    const held = await this.read();
    if (held.length > 0) await this.#opened.file.datasync();
    return held;
  }

  /** The caller has made the file's bytes and name durable; the line is durable once this returns. */
  async recordHeld({ offset, digest, lengthBytes, fileName }: HeldPiece): Promise<void> {
    const { file } = this.#opened;
    await appendLine(file, `held ${offset} ${digest} ${lengthBytes} ${fileName}`);
    try {
      await file.datasync();
    } catch (error) {
      // The line can be read and yet be lost with the power, and the next sync would succeed.
      await appendLine(file, `void ${fileName}`);
      throw error;
    }
  }

  /** Says whether this journal still counts: lines that are written to a removed file are lost. */
  async isCurrent(): Promise<boolean> {
    const [own, named] = await Promise.all([this.#opened.file.stat(), findFile(this.#opened.path)]);
    return named?.ino === own.ino;
  }

  /** Forgets all pieces. Only the files that this journal names are removed: another writer may have begun a new journal by then. */
  async remove(): Promise<void> {
    const { file, path, directory } = this.#opened;
    const names = (await readLines(file)).map((line) => wordsOf(line)?.at(-1)).filter((name) => name !== undefined);
    if (await this.isCurrent()) await rm(path, { force: true });
    for (const name of new Set(names)) await rm(join(directory, name), { force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened.file.close();
  }
}

function chainOf(lines: readonly string[], partNumber: number): HeldPiece[] {
  const read = lines.map((line) => wordsOf(line) ?? []);
  const voided = new Set(read.filter(([verb]) => verb === "void").map(([, fileName]) => fileName));
  const chain: HeldPiece[] = [];
  for (const [verb, offset, digest, length, fileName] of read) {
    if (verb !== "held" || voided.has(fileName) || Number(offset) !== endOfPieces(chain)) continue;
    chain.push({
      partNumber,
      offset: Number(offset),
      digest: digest!,
      lengthBytes: Number(length),
      fileName: fileName!,
    });
  }
  return chain;
}
