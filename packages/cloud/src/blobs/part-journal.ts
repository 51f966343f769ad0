// The first `take` of a part number decides, for all processes on the directory, because appends have one order. No
// locks: one that outlives its process would have to be broken by guessing.

import { constants, type FileHandle, open } from "node:fs/promises";
import { UploadClosedError } from "./blob-errors.ts";
import type { PartPlan, UploadPlan } from "./blob-store.ts";
import { isSystemError } from "./durable-file.ts";
import type { KeyFiles } from "./file-layout.ts";
import { appendLine, readLines, sealLine, wordsOf } from "./journal-lines.ts";

/** What a journal says of all parts, or of one. */
export interface JournalState {
  readonly plan: UploadPlan;
  /** The first that was taken under each number. */
  readonly taken: ReadonlyMap<number, PartPlan>;
  /** The numbers whose bytes are durable. */
  readonly kept: ReadonlySet<number>;
}

/** Throws {@link UploadClosedError} where there is no journal. */
export async function openJournal(key: string, files: KeyFiles): Promise<PartJournal> {
  try {
    return new PartJournal(await open(files.journal, constants.O_RDWR | constants.O_APPEND));
  } catch (error) {
    throw isSystemError(error, "ENOENT") ? new UploadClosedError(key) : error;
  }
}

/**
 * What is known of an unfinished upload, in lines that are only ever appended (journal-lines.ts), so that several processes
 * may write it. What is known of a part that comes in pieces has a journal of its own (piece-journal.ts).
 *
 *     plan <size> <part size>        the first line
 *     take <number> <digest> <length>   these bytes arrived and were verified; the first `take` of a number is the one that counts
 *     kept <number>                  the bytes taken under this number are durable
 *     void <number>                  what `kept` said before is no longer sure
 */
export class PartJournal implements AsyncDisposable {
  // Opened before anything is written: a failed write-back is then reported by this handle's own sync.
  readonly #file: FileHandle;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  /** Of one part only where `partNumber` is given. */
  async read(partNumber?: number): Promise<JournalState> {
    return parseJournal(await readLines(this.#file), partNumber);
  }

  /** What it says is kept outlives a power cut: without this, another request's line could be seen before it was synced. */
  async readDurable(partNumber?: number): Promise<JournalState> {
    const state = await this.read(partNumber);
    if (state.kept.size > 0) await this.#file.datasync();
    return state;
  }

  /** Not synced: a power cut may take it back, which loses nothing that was acknowledged. */
  async recordTaken(part: PartPlan): Promise<void> {
    await appendLine(this.#file, `take ${part.number} ${part.digest} ${part.lengthBytes}`);
  }

  /** Durable once it returns. */
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
   * After a failed sync: the bytes can be read and yet be lost with the power, and the next sync would succeed. So the parts
   * are to be sent again.
   */
  async recordVoid(partNumbers: Iterable<number>): Promise<void> {
    for (const partNumber of partNumbers) await appendLine(this.#file, `void ${partNumber}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file.close();
  }
}

/** The first line of a journal. */
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
