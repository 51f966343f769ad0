import { exportMcap } from "../export/export-mcap.ts";
import { makeIndexOf } from "../export/plan/open-source.ts";
import { RewritePool } from "../export/rewrite/rewrite-pool.ts";
import { RecordingError } from "../faults/reasons.ts";
import type { HoldMemory } from "../memory/large-memory.ts";
import { bytesSource, type RandomAccessSource } from "../sources/source.ts";
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
 * What is damaged is left out and reported, as in `exportMcap`; behind it the next chunk is looked for. The recording's key stays with the
 * original, because a salvage is not that recording. Throws {@link SalvageEmptyError}, and what reading throws.
 */
export async function* salvageRecording(
  source: RandomAccessSource,
  { fileName, describe, signal, hold, pool: given }: SalvageOptions,
): AsyncGenerator<Uint8Array> {
  await using own = new AsyncDisposableStack();
  const pool = given ?? own.use(new RewritePool({ threadCount: 1 }));
  const index = bytesSource(await indexReadable(source, { fileName, signal, hold, pool }));
  const salvage = await toSalvage(await openVerifiedIndex(index));
  const { startNs, endNs } = salvage;
  if (startNs === undefined || endNs === undefined) throw new SalvageEmptyError(fileName);
  const shared = lend(source);
  yield* exportMcap(
    [{ fileName, startNs, endNs, isSalvage: true, open: async () => shared, openIndex: async () => lend(index) }],
    {
      compression: "lz4",
      includeAttachments: true,
      memoryBudgetBytes: 16 * 1024 * 1024,
      metadata: [...identityWithoutKey(salvage), describe(salvage)],
      pool,
      hold,
      signal,
    },
  );
}

/** Closing what is lent closes nothing. */
function lend(source: RandomAccessSource): RandomAccessSource & AsyncDisposable {
  const { sizeBytes, descriptor } = source;
  const read = source.read.bind(source);
  return { sizeBytes, read, ...(descriptor !== undefined && { descriptor }), [Symbol.asyncDispose]: async () => {} };
}

/** Throws {@link SalvageEmptyError} if the file is no recording at all. */
async function indexReadable(
  source: RandomAccessSource,
  { fileName, signal, hold, pool }: Pick<SalvageOptions, "fileName" | "signal" | "hold"> & { pool: RewritePool },
): Promise<Uint8Array> {
  await using lane = pool.openLane();
  try {
    return await makeIndexOf(source, { fileName, isSalvage: true, signal, hold, lane });
  } catch (error) {
    if (error instanceof RecordingError) throw new SalvageEmptyError(fileName);
    throw error;
  }
}

async function toSalvage(index: VerifiedIndex): Promise<Salvage> {
  const { messageCount, sizeBytes, damage } = index.head;
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
