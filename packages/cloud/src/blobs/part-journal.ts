import { constants, type FileHandle, open } from "node:fs/promises";
import { crc32 } from "node:zlib";
import { StorageFull, UploadClosed } from "./blob-errors.ts";
import type { PartPlan, UploadPlan } from "./blob-store.ts";
import { isSystemError } from "./durable-file.ts";
import type { KeyFiles } from "./file-layout.ts";

/** What a journal says of all parts, or of one. */
export interface JournalState {
  readonly plan: UploadPlan;
  /** The first that was taken under each number. */
  readonly taken: ReadonlyMap<number, PartPlan>;
  /** The numbers whose bytes are durable. */
  readonly kept: ReadonlySet<number>;
}

/** Throws {@link UploadClosed} where there is no journal. */
export async function openJournal(key: string, files: KeyFiles): Promise<PartJournal> {
  try {
    return new PartJournal(await open(files.journal, constants.O_RDWR | constants.O_APPEND));
  } catch (error) {
    throw isSystemError(error, "ENOENT") ? new UploadClosed(key) : error;
  }
}

/**
 * What is known of an unfinished upload: a file of lines that is only ever appended to, so that several processes may
 * write it. Each line ends in its checksum and has a line break on both sides: a line that a crash tore, or left as zeros, is
 * no line, and takes no other one with it.
 *
 *     plan <size> <part size>        the first line
 *     take <number> <md5> <length>   these bytes arrived and were verified; the first `take` of a number is the one that counts
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
    const { size } = await this.#file.stat();
    const { buffer, bytesRead } = await this.#file.read(Buffer.alloc(size), 0, size, 0);
    return parseJournal(buffer.toString("latin1", 0, bytesRead), partNumber);
  }

  /** What it says is kept outlives a power cut: without this, another request's line could be seen before it was synced. */
  async readDurable(partNumber?: number): Promise<JournalState> {
    const state = await this.read(partNumber);
    if (state.kept.size > 0) await this.#file.datasync();
    return state;
  }

  /** Not synced: a power cut may take it back, which loses nothing that was acknowledged. */
  async recordTaken(part: PartPlan): Promise<void> {
    await this.#append(`take ${part.number} ${part.md5} ${part.lengthBytes}`);
  }

  /** Durable once it returns. */
  async recordKept(partNumber: number): Promise<void> {
    await this.#append(`kept ${partNumber}`);
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
    for (const partNumber of partNumbers) await this.#append(`void ${partNumber}`);
  }

  async #append(text: string): Promise<void> {
    const line = Buffer.from(seal(text));
    const { bytesWritten } = await this.#file.write(line);
    // One write or none: the rest of a torn line could come to stand behind another process's line.
    if (bytesWritten < line.byteLength) throw new StorageFull(`${bytesWritten} of ${line.byteLength} bytes written`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file.close();
  }
}

/** The first line of a journal. */
export function formatPlan(plan: UploadPlan): string {
  return seal(`plan ${plan.sizeBytes} ${plan.partSizeBytes}`);
}

function parseJournal(text: string, partNumber: number | undefined): JournalState {
  const [first, ...lines] = text.split("\n").filter((line) => line !== "");
  const [, sizeBytes, partSizeBytes] = words(first ?? "") ?? [];
  const taken = new Map<number, PartPlan>();
  const kept = new Set<number>();
  const wanted = partNumber === undefined ? undefined : new RegExp(`^.{4} ${partNumber} `);
  for (const line of lines) {
    if (wanted && !wanted.test(line)) continue;
    const [verb, numberText, md5, length] = words(line) ?? [];
    const number = Number(numberText);
    if (verb === "take" && !taken.has(number)) taken.set(number, { number, md5: md5!, lengthBytes: Number(length) });
    if (verb === "kept") kept.add(number);
    if (verb === "void") kept.delete(number);
  }
  return { plan: { sizeBytes: Number(sizeBytes), partSizeBytes: Number(partSizeBytes) }, taken, kept };
}

function seal(text: string): string {
  return `\n${text} ${checksum(text)}\n`;
}

/** The words of a line, or undefined when it is torn or damaged. */
function words(line: string): string[] | undefined {
  const end = line.lastIndexOf(" ");
  const text = line.slice(0, end);
  return end > 0 && line.slice(end + 1) === checksum(text) ? text.split(" ") : undefined;
}

function checksum(text: string): string {
  return crc32(text).toString(16).padStart(8, "0");
}
