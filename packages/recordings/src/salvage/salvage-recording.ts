import { exportMcap } from "../export/export-mcap.ts";
import type { ExportSource } from "../export/plan/export-options.ts";
import { makeIndexOf } from "../export/plan/open-source.ts";
import { RewritePool } from "../export/rewrite/rewrite-pool.ts";
import { RecordingError } from "../faults/reasons.ts";
import type { HoldMemory } from "../memory/large-memory.ts";
import { bytesSource, lend, type RandomAccessSource, sourceFrom } from "../sources/source.ts";
import { joinSalvages } from "../survey/join-salvages.ts";
import type { MetadataRecord, Salvage } from "../survey/summary.ts";
import { extendSpan } from "../survey/survey.ts";
import { findIdentity } from "../survey/to-summary.ts";
import { openVerifiedIndex, type VerifiedIndex } from "../verified/read-index.ts";

export interface SalvageOptions {
  /** Its extension matters. Reports about the source name it, too. */
  readonly fileName: string;
  /** Answers what the new file says of where it comes from. */
  readonly describe: (salvage: Salvage) => MetadataRecord;
  readonly signal?: AbortSignal;
  /** Asked before much memory is used at once. By default everything in the process shares one budget. */
  readonly hold?: HoldMemory;
  /** Reads and compresses. By default a pool of one thread, which ends with the salvage. */
  readonly pool?: RewritePool;
}

/** Not one message can be read. */
export class SalvageEmptyError extends Error {
  constructor(fileName: string) {
    super(`no message of ${fileName} can be read`);
    this.name = "SalvageEmptyError";
  }
}

/**
 * Writes what is readable of a recording that is not whole as an indexed MCAP file, piece by piece, in bounded memory and with one thread.
 * A damaged part is left out and reported, as in `exportMcap`; behind it the next chunk is looked for. Files that were joined to one are
 * read one after another. The recording's key stays with the original, because a salvage is not that recording. Throws
 * {@link SalvageEmptyError}, and what reading throws.
 */
export async function* salvageRecording(
  source: RandomAccessSource,
  { fileName, describe, signal, hold, pool: given }: SalvageOptions,
): AsyncGenerator<Uint8Array> {
  await using own = new AsyncDisposableStack();
  const pool = given ?? own.use(new RewritePool({ threadCount: 1 }));
  const parts = await indexParts(source, { fileName, signal, hold, pool });
  const salvage = joinSalvages(parts.map((part) => part.salvage));
  if (salvage.startNs === undefined) throw new SalvageEmptyError(fileName);
  yield* exportMcap(parts.flatMap(toExportSource), {
    compression: "lz4",
    includeAttachments: true,
    memoryBudgetBytes: 16 * 1024 * 1024,
    metadata: [...identityWithoutKey(salvage), describe(salvage)],
    pool,
    hold,
    signal,
  });
}

/** One of the recordings that a file holds. */
interface Part {
  /** Names it in reports. */
  readonly name: string;
  readonly source: RandomAccessSource;
  readonly index: RandomAccessSource;
  readonly salvage: Salvage;
}

/** A part without messages gives nothing. The span is the widest, because a salvage holds messages with times that are in doubt, too. */
function toExportSource({ name, source, index, salvage }: Part): ExportSource[] {
  if (salvage.startNs === undefined) return [];
  const [startNs, endNs] = [0n, 2n ** 63n - 1n];
  const shared = lend(source);
  return [
    { fileName: name, startNs, endNs, isSalvage: true, open: async () => shared, openIndex: async () => lend(index) },
  ];
}

interface Indexing extends Pick<SalvageOptions, "fileName" | "signal" | "hold"> {
  readonly pool: RewritePool;
}

/** Reads the recordings of a file one after another. Throws {@link SalvageEmptyError} if the first is none at all. */
async function indexParts(source: RandomAccessSource, indexing: Indexing): Promise<Part[]> {
  const parts: Part[] = [];
  let start: number | undefined = 0;
  while (start !== undefined) {
    const part = start === 0 ? source : sourceFrom(source, start);
    const name = start === 0 ? indexing.fileName : `what begins at byte ${start} of ${indexing.fileName}`;
    const { index, nextAt } = await indexReadable(part, indexing);
    const opened = bytesSource(index);
    const sizeBytes = nextAt ?? part.sizeBytes;
    parts.push({
      name,
      source: part,
      index: opened,
      salvage: await toSalvage(await openVerifiedIndex(opened), sizeBytes),
    });
    start = nextAt === undefined ? undefined : start + nextAt;
  }
  return parts;
}

/** Throws {@link SalvageEmptyError} if the file is no recording at all. */
async function indexReadable(source: RandomAccessSource, { fileName, signal, hold, pool }: Indexing) {
  await using lane = pool.openLane();
  try {
    return await makeIndexOf(source, { fileName, isSalvage: true, isPart: true, signal, hold, lane });
  } catch (error) {
    if (error instanceof RecordingError) throw new SalvageEmptyError(fileName);
    throw error;
  }
}

/** `sizeBytes` is the size of the part that was read. */
async function toSalvage(index: VerifiedIndex, sizeBytes: number): Promise<Salvage> {
  const { messageCount, damage } = index.head;
  const span: { startNs?: bigint; endNs?: bigint } = {};
  const topics = new Set<string>();
  for (const { channel, tally } of await index.channels()) {
    if (!channel || tally.startNs === undefined || tally.endNs === undefined) continue;
    extendSpan(span, tally.startNs, tally.endNs);
    topics.add(channel.topic);
  }
  const lostBytes = damage?.bytesLost ?? 0;
  const identity = findIdentity(await index.metadata());
  const bytes = { readableBytes: sizeBytes - lostBytes, lostBytes };
  return { ...span, messageCount, topics: [...topics], ...bytes, ...(damage && { damage }), identity };
}

/** The last record of this name counts. */
function identityWithoutKey({ identity }: Salvage): MetadataRecord[] {
  const { key, ...rest } = identity;
  return key === undefined ? [] : [{ name: "downlink", metadata: rest as Record<string, string> }];
}
