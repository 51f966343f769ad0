import { RecordingFault } from "../../faults/reasons.ts";
import type { ReadContext } from "../../reading/read-context.ts";
import { createReadContext } from "../../reading/read-context.ts";
import type { RecordingFormatName } from "../../survey/summary.ts";
import type { Survey } from "../../survey/survey.ts";
import type { RewriteLane } from "../rewrite/rewrite-pool.ts";
import type { Selection } from "../rewrite/selection.ts";
import type { DamageReport } from "./damage-report.ts";
import type { ExportSource, McapExportOptions } from "./export-options.ts";
import type { IdTable } from "./id-table.ts";
import { openIndexOf } from "./open-index.ts";
import { planRuns } from "./plan-runs.ts";
import type { RunTable } from "./run-table.ts";

/** A source that is open, and what of it is wanted. */
export interface OpenSource {
  fileName: string;
  formatName: RecordingFormatName;
  context: ReadContext;
  /** Its channels, the schemas of those that are wanted, metadata and attachments. */
  survey: Pick<Survey, "profile" | "channels" | "metadata" | "attachments">;
  /** Only those that may hold selected messages. */
  runs: RunTable;
  selection: Selection;
  /** The channels of a run, each with its number of messages. */
  channelsOf(run: PlannedRun): Promise<PlannedChannel[]>;
  /** Keeps it open until so many more calls of `release`. It is opened with one. */
  hold(count: number): void;
  release(): Promise<void>;
  /** At once, whoever holds it. */
  close(): Promise<void>;
}

/** A run as its index tells of it, and what of it is wanted. */
export interface PlannedRun {
  source: OpenSource;
  /** Of the source among the sources, then of the run in its file: the order of equal times. */
  order: number;
  offset: number;
  /** Of the chunk's record or the loose messages, and of the message indexes behind. */
  recordBytes: number;
  indexesBytes: number;
  /** Decompressed. */
  lengthBytes: number;
  /** Of its largest message's record. */
  largestBytes: number;
  /** Of the compressed bytes, counted from `offset`. */
  dataStart: number;
  storedBytes: number;
  compression: string;
  isChunk: boolean;
  startNs: bigint;
  endNs: bigint;
  checksum: number;
  indexesChecksum: number;
  isInOrder: boolean;
  wantedBytes: number;
  wantedCount: number;
  /** Behind the last wanted message, counted from the beginning of the decompressed run. */
  wantedEnd: number;
  isAllWanted: boolean;
  /** As far as the run alone decides: fit to stand elsewhere, right compression, all wanted, its ids those of the written file. */
  mayPass: boolean;
  /** Its messages are few, and can be read one by one. */
  mayPick: boolean;
  /** In the source's index. */
  place: { pageNumber: number; row: number };
}

export interface PlannedChannel {
  channelId: number;
  messageCount: number;
  recordsBytes: number;
  startNs: bigint;
  endNs: bigint;
  /** Counted from the end of the chunk's record; -1: there is none. */
  indexStart: number;
}

export interface Opening {
  /** Of the source among all sources. */
  index: number;
  ids: IdTable;
  options: McapExportOptions;
  lane: RewriteLane;
  damage: DamageReport | undefined;
  onOpened?: OnOpened | undefined;
  onClosed?: () => void;
}

export type OnOpened = (source: OpenSource) => Promise<void>;

/** Opens and plans a source. Faults when it is no finished recording, or not the one that its index is of. */
export async function openSource(source: ExportSource, opening: Opening): Promise<OpenSource> {
  const { signal } = opening.options;
  const opened = new AsyncDisposableStack();
  let holders = 1;
  let isOpen = true;
  const close = async (): Promise<void> => {
    if (!isOpen) return;
    isOpen = false;
    opening.onClosed?.();
    await opened.disposeAsync();
  };
  const hold = (count: number): void => {
    holders += count;
  };
  const release = async (): Promise<void> => {
    holders -= 1;
    if (holders === 0) await close();
  };
  try {
    const bytes = opened.use(await source.open(signal));
    const context = createReadContext(bytes, { signal });
    const index = await openIndexOf(source, { recording: bytes, opened, ...opening });
    const planned = await planRuns({ source, index, context, opening });
    const open: OpenSource = { ...planned, hold, release, close };
    await opening.onOpened?.(open);
    return open;
  } catch (error) {
    await opened.disposeAsync();
    if (!(error instanceof RecordingFault)) throw error;
    throw new RecordingFault(error.reason.code, `${source.fileName}: ${error.reason.text}`);
  }
}
