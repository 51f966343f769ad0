import { createHash } from "node:crypto";
import type { InspectLimits } from "../faults/limits.ts";
import { type Reason, RecordingError, stateOf } from "../faults/reasons.ts";
import { detectDamaged, detectFormat } from "../formats/detect-format.ts";
import type { RecordingFormat } from "../formats/formats.ts";
import type { HoldMemory } from "../memory/large-memory.ts";
import { MAX_TIME_NS } from "../reading/field-cursor.ts";
import { createReadContext } from "../reading/read-context.ts";
import type { RandomAccessSource } from "../sources/source.ts";
import type { RecordingSummary } from "../survey/summary.ts";
import { settleSpans } from "../survey/survey.ts";
import { toSummary } from "../survey/to-summary.ts";
import type { Verifying } from "../verified/verifying.ts";
import { IndexWriter, type WritePiece } from "../verified/write-index.ts";
import { openVerifying } from "./open-verifying.ts";

export interface IndexOptions {
  /** Only the extension matters. */
  readonly fileName: string;
  /** Takes the index, piece by piece, while the recording is read. The pieces are an index only if the answer is `finished` or `empty`. */
  readonly write: WritePiece;
  /** Whether what is readable of a recording that is not whole is taken, and the rest is noted. */
  readonly isSalvage?: boolean;
  /**
   * Whether only the first of several recordings is read that were joined to one file; `nextAt` then says where the next one begins.
   * Otherwise a salvage notes the others as damage.
   */
  readonly isPart?: boolean;
  readonly signal?: AbortSignal | undefined;
  readonly limits?: Partial<InspectLimits>;
  /** Asked before more than some tens of megabytes are used at once. By default it is not asked. */
  readonly hold?: HoldMemory | undefined;
}

/**
 * The result of reading a whole file. `sha256` is the hash of all of its bytes, hexadecimal; of the first of several recordings alone it
 * is the hash of what was read.
 */
export type Indexed =
  | {
      readonly state: "finished" | "empty";
      readonly sha256: string;
      readonly summary: RecordingSummary;
      /** Where the next recording begins, if the file holds several. */
      readonly nextAt?: number;
    }
  | { readonly state: "incomplete" | "damaged" | "unsupported"; readonly sha256: string; readonly reason: Reason };

/**
 * Reads every byte of a file once: it hashes the file, decompresses and checks each chunk, compares the file with what it says of itself,
 * and writes a verified index of what is truly there. Throws only I/O errors, the signal's reason, and what `write` throws.
 */
export async function indexRecording(source: RandomAccessSource, options: IndexOptions): Promise<Indexed> {
  const { limits, signal, hold } = options;
  const context = createReadContext(source, { limits, signal, hold, isBlocking: true });
  const hash = createHash("sha256");
  const writer = new IndexWriter(options.write, source.sizeBytes);
  const { isSalvage = false } = options;
  const onBlock = (block: Uint8Array): void => void hash.update(block);
  const verifying = openVerifying(context, { isSalvage, onBlock, add: (run) => writer.add(run) });
  const { reader } = verifying;
  try {
    const detect = options.isSalvage ? detectDamaged : detectFormat;
    const format = await detect(source, options.fileName);
    const fileEnd = await format.verify(verifying);
    if (fileEnd < source.sizeBytes && !options.isPart) noteOthers(verifying, fileEnd);
    const isFirstOfSeveral = options.isPart && fileEnd < source.sizeBytes;
    if (!isFirstOfSeveral) await reader.finish();
    const ended = await end(verifying, { writer, format, sha256: hash.digest("hex") });
    return fileEnd < source.sizeBytes ? { ...ended, nextAt: fileEnd } : ended;
  } catch (error) {
    if (!(error instanceof RecordingError)) throw error;
    await reader.finish();
    return { state: stateOf(error.reason.code), sha256: hash.digest("hex"), reason: error.reason };
  }
}

function noteOthers({ damage, context }: Verifying, offset: number): void {
  const reason = { code: "BadFooter", text: `another recording begins at byte ${offset}` } as const;
  damage.addGap({ offset, end: context.source.sizeBytes, reason });
}

interface Ended {
  readonly writer: IndexWriter;
  readonly format: RecordingFormat;
  readonly sha256: string;
}

async function end(
  verifying: Verifying,
  { writer, format, sha256 }: Ended,
): Promise<Indexed & { state: "finished" | "empty" }> {
  const { survey, schemaPlaces, damage, context, activity } = verifying;
  const { sizeBytes } = context.source;
  const summedDamage = damage.sum();
  settleSpans(survey, MAX_TIME_NS);
  await writer.end({
    format: format.name,
    sizeBytes,
    sha256,
    survey,
    schemaPlaces,
    damage: damage.lines,
    summedDamage,
  });
  const summary = toSummary(survey, {
    format: format.name,
    sizeBytes,
    method: "scan",
    activityOf: (ids, startNs, endNs) => activity.of(ids, startNs, endNs),
  });
  if (summedDamage) summary.damage = summedDamage;
  return { state: summary.messageCount === 0 ? "empty" : "finished", sha256, summary };
}
