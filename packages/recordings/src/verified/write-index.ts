import { constants, zstdCompressSync } from "node:zlib";
import { RecordingError } from "../faults/reasons.ts";
import type { RecordingDamage, RecordingFormatName } from "../survey/summary.ts";
import { countMessages, type Survey } from "../survey/survey.ts";
import {
  type DamageLine,
  type FramePlace,
  INDEX_VERSION,
  type IndexHead,
  indexMagic,
  type ListName,
  type PagePlace,
  TAIL_BYTES,
} from "./index-layout.ts";
import { linesOf, type SchemaPlaces } from "./index-lines.ts";
import { encodePage, pageBytes } from "./index-pages.ts";
import type { VerifiedRun } from "./verified-run.ts";

/** Takes the next piece of the index. The one behind it is made when this is done. */
export type WritePiece = (piece: Uint8Array) => Promise<void>;

/** The knowledge when everything was read. */
export interface IndexedRecording {
  readonly format: RecordingFormatName;
  readonly sizeBytes: number;
  readonly sha256: string;
  readonly survey: Survey;
  readonly schemaPlaces: SchemaPlaces;
  readonly damage: readonly DamageLine[];
  readonly summedDamage: RecordingDamage | undefined;
}

/** Writes the index of a recording while it is read, and keeps one page of runs in memory. */
export class IndexWriter {
  readonly #output: IndexOutput;
  readonly #channelNumbers = new Numbers<number>();
  readonly #compressions = new Numbers<string>();
  readonly #pages: PagePlace[] = [];
  /** The page that is being filled, and how many channels its runs name. */
  #runs: VerifiedRun[] = [];
  #channelCount = 0;

  /** `sizeBytes` is the size of the recording: an index that outgrows it is refused. */
  constructor(write: WritePiece, sizeBytes: number) {
    this.#output = new IndexOutput(write, LARGEST_INDEX_BYTES + sizeBytes);
  }

  /** Answers a promise where a page is full. */
  add(run: VerifiedRun): Promise<void> | undefined {
    this.#runs.push(run);
    this.#channelCount += run.channels.length;
    const isFull = this.#runs.length >= MOST_PAGE_RUNS || this.#channelCount >= MOST_PAGE_CHANNELS;
    return isFull ? this.#endPage() : undefined;
  }

  async end(about: IndexedRecording): Promise<void> {
    await this.#endPage();
    // Channels without messages follow those that the pages refer to.
    for (const id of about.survey.channels.keys()) this.#channelNumbers.of(id);
    const lists = {} as Record<ListName, FramePlace[]>;
    for (const [name, lines] of linesOf(about, this.#channelNumbers.values)) lists[name] = await this.#putList(lines);
    const places = { compressions: this.#compressions.values, pages: this.#pages, lists };
    await this.#output.putHead(toHead(about, places));
  }

  async #endPage(): Promise<void> {
    if (this.#runs.length === 0) return;
    const [page, size] = [this.#runs, pageBytes(this.#runs.length, this.#channelCount)];
    [this.#runs, this.#channelCount] = [[], 0];
    const numbers = { channel: this.#channelNumbers.of, compression: this.#compressions.of };
    const at = await this.#output.putFrame(encodePage(page, numbers), size);
    this.#pages.push({ at, count: page.length, ...spanOf(page) });
  }

  async #putList(lines: Iterable<object>): Promise<FramePlace[]> {
    const places: FramePlace[] = [];
    for (const text of inBlocks(lines)) places.push(await this.#output.putText(text));
    return places;
  }
}

/** Puts frames one behind the other, and knows where each stands. */
class IndexOutput {
  readonly #write: WritePiece;
  readonly #mostBytes: number;
  #position = 0;

  constructor(write: WritePiece, mostBytes: number) {
    this.#write = write;
    this.#mostBytes = mostBytes;
  }

  /** `sizeBytes` is the size of what was compressed to the frame. */
  async putFrame(frame: Uint8Array, sizeBytes: number): Promise<FramePlace> {
    if (this.#position === 0) await this.#put(indexMagic);
    const place = [this.#position, frame.byteLength, sizeBytes] as const;
    await this.#put(frame);
    return place;
  }

  putText(text: Uint8Array): Promise<FramePlace> {
    return this.putFrame(compressText(text), text.byteLength);
  }

  /** The head comes last, and behind it the tail, which says where it stands. */
  async putHead(head: IndexHead): Promise<void> {
    const [offset, bytes, sizeBytes] = await this.putText(Buffer.from(JSON.stringify(head)));
    const tail = Buffer.alloc(TAIL_BYTES);
    tail.writeBigUInt64LE(BigInt(offset), 0);
    tail.writeUInt32LE(bytes, 8);
    tail.writeUInt32LE(sizeBytes, 12);
    tail.set(indexMagic, 16);
    await this.#put(tail);
  }

  async #put(bytes: Uint8Array): Promise<void> {
    this.#position += bytes.byteLength;
    if (this.#position > this.#mostBytes) throw tooLarge();
    await this.#write(bytes);
  }
}

const MOST_PAGE_RUNS = 4096;
const MOST_PAGE_CHANNELS = 65_536;
const BLOCK_BYTES = 1024 * 1024;
/** An index may be so much larger than its recording. Only a recording that was made for this purpose has a larger one. */
const LARGEST_INDEX_BYTES = 16 * 1024 * 1024;

function toHead(
  { format, sizeBytes, sha256, survey, summedDamage }: IndexedRecording,
  places: Pick<IndexHead, "compressions" | "pages" | "lists">,
): IndexHead {
  const { profile, library } = survey;
  const about = { version: INDEX_VERSION, format, sizeBytes, sha256, profile, library };
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
class Numbers<T> {
  readonly values: T[] = [];
  readonly #numbers = new Map<T, number>();

  readonly of = (value: T): number => {
    const known = this.#numbers.get(value);
    if (known !== undefined) return known;
    this.#numbers.set(value, this.values.length);
    return this.values.push(value) - 1;
  };
}

/** Writes JSON lines in blocks of about a megabyte, so that a reader never parses much at once. */
function* inBlocks(lines: Iterable<object>): Generator<Buffer> {
  let block: string[] = [];
  let length = 0;
  for (const line of lines) {
    const text = JSON.stringify(line);
    block.push(text);
    length += text.length;
    if (length < BLOCK_BYTES) continue;
    yield Buffer.from(block.join("\n"));
    [block, length] = [[], 0];
  }
  if (block.length > 0) yield Buffer.from(block.join("\n"));
}

function compressText(text: Uint8Array): Uint8Array {
  return zstdCompressSync(text, { params: { [constants.ZSTD_c_checksumFlag]: 1 } });
}

function tooLarge(): RecordingError {
  const text =
    "the chunks name so many channels that an index of them would be larger than the file; split the recording";
  return new RecordingError("TooManyRecords", text);
}
