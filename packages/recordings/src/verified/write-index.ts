import { constants, zstdCompressSync } from "node:zlib";
import { RecordingFault } from "../faults/reasons.ts";
import type { RecordingDamage, RecordingFormatName } from "../survey/summary.ts";
import { countMessages, type Survey } from "../survey/survey.ts";
import {
  type DamageLine,
  type FramePlace,
  type IndexHead,
  indexMagic,
  indexVersion,
  type ListName,
  type PagePlace,
  tailBytes,
} from "./index-layout.ts";
import { linesOf, type SchemaPlaces } from "./index-lines.ts";
import { encodePage, pageBytes } from "./index-pages.ts";
import type { VerifiedRun } from "./verified-run.ts";

/** Takes the next piece of the index; the next is made when it is done. */
export type WritePiece = (piece: Uint8Array) => Promise<void>;

export interface IndexWriter {
  /** Answers a promise where a page is full. */
  add(run: VerifiedRun): Promise<void> | undefined;
  end(about: IndexedRecording): Promise<void>;
}

/** What is known when everything was read. */
export interface IndexedRecording {
  format: RecordingFormatName;
  sizeBytes: number;
  sha256: string;
  survey: Survey;
  schemaPlaces: SchemaPlaces;
  damage: readonly DamageLine[];
  summedDamage: RecordingDamage | undefined;
}

/** Keeps a page of runs in memory. `sizeBytes`: of the recording; an index that outgrows it is refused. */
export function createIndexWriter(write: WritePiece, sizeBytes: number): IndexWriter {
  const channelNumbers = createNumbers<number>();
  const compressions = createNumbers<string>();
  const numbers = { channel: channelNumbers.of, compression: compressions.of };
  const pages: PagePlace[] = [];
  let runs: VerifiedRun[] = [];
  let channelCount = 0;
  let position = 0;

  const put = async (bytes: Uint8Array): Promise<void> => {
    position += bytes.byteLength;
    if (position > largestIndexBytes + sizeBytes) throw tooLarge();
    await write(bytes);
  };
  const putFrame = async (frame: Uint8Array, frameSizeBytes: number): Promise<FramePlace> => {
    const place = [position, frame.byteLength, frameSizeBytes] as const;
    await put(frame);
    return place;
  };
  const endPage = async (): Promise<void> => {
    if (runs.length === 0) return;
    const page = runs;
    const size = pageBytes(page.length, channelCount);
    [runs, channelCount] = [[], 0];
    if (position === 0) await put(indexMagic);
    const at = await putFrame(encodePage(page, numbers), size);
    pages.push({ at, count: page.length, ...spanOf(page) });
  };
  const putList = async (lines: Iterable<object>): Promise<FramePlace[]> => {
    const places: FramePlace[] = [];
    for (const text of inBlocks(lines)) places.push(await putFrame(compressText(text), text.byteLength));
    return places;
  };
  return {
    add(run) {
      runs.push(run);
      channelCount += run.channels.length;
      const isFull = runs.length >= mostPageRuns || channelCount >= mostPageChannels;
      return isFull ? endPage() : undefined;
    },
    async end(about) {
      await endPage();
      if (position === 0) await put(indexMagic);
      // Channels without messages follow those that the pages refer to.
      for (const id of about.survey.channels.keys()) channelNumbers.of(id);
      const lists = {} as Record<ListName, FramePlace[]>;
      for (const [name, lines] of linesOf(about, channelNumbers.values)) lists[name] = await putList(lines);
      const head = toHead(about, { compressions: compressions.values, pages, lists });
      const text = Buffer.from(JSON.stringify(head));
      const [offset, bytes] = await putFrame(compressText(text), text.byteLength);
      const tail = Buffer.alloc(tailBytes);
      tail.writeBigUInt64LE(BigInt(offset), 0);
      tail.writeUInt32LE(bytes, 8);
      tail.writeUInt32LE(text.byteLength, 12);
      tail.set(indexMagic, 16);
      await put(tail);
    },
  };
}

const mostPageRuns = 4096;
const mostPageChannels = 65_536;
const blockBytes = 1024 * 1024;
/** Beside the size of the recording: what makes more of it is made to. */
const largestIndexBytes = 16 * 1024 * 1024;

function toHead(
  { format, sizeBytes, sha256, survey, summedDamage }: IndexedRecording,
  places: Pick<IndexHead, "compressions" | "pages" | "lists">,
): IndexHead {
  const { profile, library } = survey;
  const about = { version: indexVersion, format, sizeBytes, sha256, profile, library };
  return { ...about, messageCount: countMessages(survey), ...places, damage: summedDamage };
}

function spanOf(runs: readonly VerifiedRun[]): { startNs: string; endNs: string } {
  let { startNs, endNs } = runs[0]!;
  for (const run of runs) {
    if (run.startNs < startNs) startNs = run.startNs;
    if (run.endNs > endNs) endNs = run.endNs;
  }
  return { startNs: String(startNs), endNs: String(endNs) };
}

/** Numbers values in the order in which they come. */
function createNumbers<T>(): { of(value: T): number; readonly values: T[] } {
  const numbers = new Map<T, number>();
  const values: T[] = [];
  const of = (value: T): number => {
    const known = numbers.get(value);
    if (known !== undefined) return known;
    numbers.set(value, values.length);
    return values.push(value) - 1;
  };
  return { of, values };
}

/** JSON, a line each, in blocks of about a megabyte: a reader never parses much at once. */
function* inBlocks(lines: Iterable<object>): Generator<Buffer> {
  let block: string[] = [];
  let length = 0;
  for (const line of lines) {
    const text = JSON.stringify(line);
    block.push(text);
    length += text.length;
    if (length < blockBytes) continue;
    yield Buffer.from(block.join("\n"));
    [block, length] = [[], 0];
  }
  if (block.length > 0) yield Buffer.from(block.join("\n"));
}

function compressText(text: Uint8Array): Uint8Array {
  return zstdCompressSync(text, { params: { [constants.ZSTD_c_checksumFlag]: 1 } });
}

function tooLarge(): RecordingFault {
  const text =
    "the chunks name so many channels that an index of them would be larger than the file; split the recording";
  return new RecordingFault("TooManyRecords", text);
}
