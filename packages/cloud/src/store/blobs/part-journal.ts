// The first `take` of a part number decides for all processes on the directory, because appends have one order. There are no locks: one
// that outlives its process could only be broken by guessing.

import { constants, type FileHandle, open } from "node:fs/promises";
import { UploadClosedError } from "./blob-errors.ts";
import type { PartPlan, UploadPlan } from "./blob-store.ts";
import { isSystemError } from "./durable-file.ts";
import type { KeyFiles } from "./file-layout.ts";
import { appendLine, readLines, sealLine, wordsOf } from "./journal-lines.ts";

/** The state of all parts of an upload, or of one of them, as its journal has it. */
export interface JournalState {
  readonly plan: UploadPlan;
  /** The first content that was taken under each number. */
  readonly taken: ReadonlyMap<number, PartPlan>;
  /** The numbers of the parts whose bytes are durable. */
  readonly kept: ReadonlySet<number>;
}

/** Opens the journal of an upload. Throws {@link UploadClosedError} if there is none. */
export async function openJournal(key: string, files: KeyFiles): Promise<PartJournal> {
  try {
    return new PartJournal(await open(files.journal, constants.O_RDWR | constants.O_APPEND));
  } catch (error) {
    throw isSystemError(error, "ENOENT") ? new UploadClosedError(key) : error;
  }
}

/**
 * The state of an unfinished upload, in lines that are only ever appended (journal-lines.ts), so that several processes may write it. A
 * part that comes in pieces has a journal of its own (piece-journal.ts).
 *
 * plan <size> <part size>        the first line
 * take <number> <digest> <length>   these bytes arrived and were verified; the first `take` of a number is the one that counts
 * kept <number>                  the bytes taken under this number are durable
 * void <number>                  an earlier `kept` of this number does not hold any more
 */
export class PartJournal implements AsyncDisposable {
  // The file is opened before anything is written to it: its own sync then reports a failed write-back.
  readonly #file: FileHandle;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  /** Reads the state of all parts, or of one part if `partNumber` is given. */
  async read(partNumber?: number): Promise<JournalState> {
    return parseJournal(await readLines(this.#file), partNumber);
  }

  /** Reads a state that survives a power cut: without the sync, another request's line could be read before it is durable. */
  async readDurable(partNumber?: number): Promise<JournalState> {
    const state = await this.read(partNumber);
    if (state.kept.size > 0) await this.#file.datasync();
    return state;
  }

  /** The line is not synced: a power cut may lose it, but then nothing that was acknowledged is lost. */
  async recordTaken(part: PartPlan): Promise<void> {
    await appendLine(this.#file, `take ${part.number} ${part.digest} ${part.lengthBytes}`);
  }

  /** The line is durable once this returns. */
  async recordKept(partNumber: number): Promise<void> {
    await appendLine(this.#file, `kept ${partNumber}`);
    try {
      await this.#file.datasync();
    } catch (error) {
      await this.recordVoid([partNumber]);
      throw error;
    }
  }

  /**
   * After a failed sync the bytes can be read and yet be lost with the power, and the next sync would succeed. So the parts have to be sent
   * again.
   */
  async recordVoid(partNumbers: Iterable<number>): Promise<void> {
    for (const partNumber of partNumbers) await appendLine(this.#file, `void ${partNumber}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file.close();
  }
}

/** Formats the first line of a journal. */
export function formatPlan(plan: UploadPlan): string {
  return sealLine(`plan ${plan.sizeBytes} ${plan.partSizeBytes}`);
}

function parseJournal([first, ...lines]: readonly string[], partNumber: number | undefined): JournalState {
  const [, sizeBytes, partSizeBytes] = wordsOf(first ?? "") ?? [];
  const taken = new Map<number, PartPlan>();
  const kept = new Set<number>();
  const wanted = partNumber === undefined ? undefined : new RegExp(`^.{4} ${partNumber} `);
  for (const line of lines) {
    if (wanted && !wanted.test(line)) continue;
    const [verb, numberText, digest, length] = wordsOf(line) ?? [];
    const number = Number(numberText);
    if (verb === "take" && !taken.has(number))
      taken.set(number, { number, digest: digest!, lengthBytes: Number(length) });
    if (verb === "kept") kept.add(number);
    if (verb === "void") kept.delete(number);
  }
  return { plan: { sizeBytes: Number(sizeBytes), partSizeBytes: Number(partSizeBytes) }, taken, kept };
}
