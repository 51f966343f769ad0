import { RecordingError } from "../../faults/reasons.ts";
import type { HoldMemory } from "../../memory/large-memory.ts";
import { createReadContext } from "../../reading/read-context.ts";
import { bytesSource, type RandomAccessSource, SourceChangedError } from "../../sources/source.ts";
import { mendedIndex } from "../../verified/mended-index.ts";
import { IndexUnreadableError, openVerifiedIndex, type VerifiedIndex } from "../../verified/read-index.ts";
import type { RewriteLane } from "../rewrite/rewrite-pool.ts";
import { meansOf } from "../rewrite/serve-job.ts";
import type { ExportSource, McapExportOptions } from "./export-options.ts";
import { type PlanOptions, planRuns } from "./plan-runs.ts";
import type { OpenSource } from "./planned-source.ts";

export interface Opening extends PlanOptions {
  readonly lane: RewriteLane;
  readonly onOpened?: OnOpened | undefined;
  readonly onClosed?: () => void;
}

export type OnOpened = (source: OpenSource) => Promise<void>;

/** Opens and plans a source. Throws if it is no finished recording, or not the one that was indexed. */
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
    const [recording, givenIndex] = await openBoth(source, opened, signal);
    const context = createReadContext(recording, { signal });
    const index = await openIndexOf(source, { recording, givenIndex, ...opening });
    const planned = await planRuns({ source, index, context, planning: opening });
    const open: OpenSource = { ...planned, hold, release, close };
    await opening.onOpened?.(open);
    return open;
  } catch (error) {
    await opened.disposeAsync();
    if (!(error instanceof RecordingError)) throw error;
    throw new RecordingError(error.reason.code, `${source.fileName}: ${error.reason.text}`);
  }
}

type Opened = Awaited<ReturnType<ExportSource["open"]>>;

/** Opens a recording and its index at the same time. Whatever is opened is closed with `opened`. */
async function openBoth(
  source: ExportSource,
  opened: AsyncDisposableStack,
  signal: AbortSignal | undefined,
): Promise<[recording: Opened, index: Opened | undefined]> {
  const opening = [source.open(signal), source.openIndex?.(signal)] as const;
  const settled = await Promise.allSettled(opening);
  for (const each of settled) if (each.status === "fulfilled" && each.value) opened.use(each.value);
  const [recording, index] = await Promise.all(opening);
  return [recording, index];
}

interface IndexOpening {
  readonly recording: RandomAccessSource;
  readonly givenIndex: RandomAccessSource | undefined;
  readonly options: Pick<McapExportOptions, "signal" | "hold">;
  readonly lane: RewriteLane;
}

/** Opens the index that was made of a source, or makes one now by reading all of it. */
async function openIndexOf(source: ExportSource, opening: IndexOpening): Promise<VerifiedIndex> {
  const given = await openGiven(opening);
  const make = () => makeIndex(source, opening);
  const index = given ? mendedIndex(given, make) : await make();
  const { sizeBytes, sha256 } = index.head;
  const isOther = source.sha256 !== undefined && sha256 !== source.sha256;
  if (sizeBytes === opening.recording.sizeBytes && !isOther) return index;
  throw new SourceChangedError(`${source.fileName} is not the recording that its index was made of`);
}

/** Answers undefined if there is no index that can be read. */
async function openGiven({ givenIndex }: IndexOpening): Promise<VerifiedIndex | undefined> {
  if (!givenIndex) return undefined;
  try {
    return await openVerifiedIndex(givenIndex);
  } catch (error) {
    if (error instanceof IndexUnreadableError) return undefined;
    throw error;
  }
}

async function makeIndex(
  { fileName, isSalvage = false }: ExportSource,
  { recording, options: { signal, hold }, lane }: IndexOpening,
): Promise<VerifiedIndex> {
  const { index } = await makeIndexOf(recording, { fileName, isSalvage, signal, hold, lane });
  return openVerifiedIndex(bytesSource(index));
}

interface Making {
  readonly fileName: string;
  readonly isSalvage: boolean;
  /** See `IndexOptions`. */
  readonly isPart?: boolean;
  readonly signal: AbortSignal | undefined;
  /** By default everything in the process shares one budget. */
  readonly hold: HoldMemory | undefined;
  readonly lane: RewriteLane;
}

/** Reads a whole recording in a thread. `nextAt`: where the next one begins in the same file. Throws if it is no finished recording. */
export async function makeIndexOf(
  recording: RandomAccessSource,
  { lane, fileName, isSalvage, isPart = false, signal, hold }: Making,
): Promise<{ index: Uint8Array; nextAt: number | undefined }> {
  const { descriptor, sizeBytes } = recording;
  const job = { kind: "index", readFrom: { descriptor }, sizeBytes, fileName, isSalvage, isPart } as const;
  using _ahead = recording.expect?.([{ start: 0, end: sizeBytes }]);
  const { index, refused, nextAt } = await lane.run(job, meansOf(recording, { signal, hold }));
  if (refused) throw new RecordingError(refused.code, refused.text);
  return { index, nextAt };
}
