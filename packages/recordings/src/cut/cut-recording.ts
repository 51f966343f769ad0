import { exportMcap } from "../export/export-mcap.ts";
import { RewritePool } from "../export/rewrite/rewrite-pool.ts";
import { recordingFormatOf } from "../formats/formats.ts";
import type { HoldMemory } from "../memory/large-memory.ts";
import { lend, type RandomAccessSource } from "../sources/source.ts";
import type { MetadataRecord } from "../survey/summary.ts";
import { chooseBagChunks } from "./choose-bag-chunks.ts";
import { type CutSelection, chooseChunks } from "./choose-chunks.ts";

export interface CutOptions extends CutSelection {
  /** Its extension matters. Reports about the source name it, too. */
  readonly fileName: string;
  /** Records that are written behind everything else. The last one of a name counts. */
  readonly metadata: readonly MetadataRecord[];
  /** Called for each run of messages that is left out because it is damaged. */
  readonly onSkippedDamage?: () => void;
  readonly signal?: AbortSignal;
  /** Asked before much memory is used at once. By default everything in the process shares one budget. */
  readonly hold?: HoldMemory;
}

/**
 * Writes some topics and some time of a finished recording as an indexed MCAP file, piece by piece, in bounded memory and with one thread.
 * If an MCAP file has a sound summary, or a bag a sound index, only the chunks that hold them are read; any other file is read whole. A damaged
 * part is left out and reported, as in `exportMcap`. Throws what reading throws. A cut of nothing is a file without messages.
 */
export async function* cutRecording(source: RandomAccessSource, options: CutOptions): AsyncGenerator<Uint8Array> {
  const { fileName, topics, startNs, endNs, metadata, signal, hold } = options;
  await using pool = new RewritePool({ threadCount: 1 });
  const choose = recordingFormatOf(fileName) === "mcap" ? chooseChunks : chooseBagChunks;
  const read = (await choose(source, options, signal)) ?? source;
  yield* exportMcap([{ fileName, ...LONGEST_SPAN, isSalvage: true, open: async () => lend(read) }], {
    ...{ compression: "zstd", memoryBudgetBytes: 16 * 1024 * 1024, startNs, endNs, metadata, pool, hold, signal },
    ...(topics && { topics }),
    ...(options.onSkippedDamage && { onSkippedDamage: options.onSkippedDamage }),
  });
}

/** A damaged file may hold messages of any time. */
const LONGEST_SPAN = { startNs: 0n, endNs: 2n ** 63n - 1n };
