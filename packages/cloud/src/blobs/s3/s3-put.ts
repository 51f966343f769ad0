// An object that fits into one block is one PutObject with `If-None-Match`, a larger one a multipart upload of its own.
// Every write carries a token as metadata: where an answer was lost, the object under the key tells whose it is.

import { createHash, randomUUID } from "node:crypto";
import { type CompletedPart, PutObjectCommand } from "@aws-sdk/client-s3";
import { abortable } from "../../core/abortable.ts";
import { BlobExistsError, BlobTooLargeError, DigestMismatchError } from "../blob-errors.ts";
import type { PutOptions } from "../blob-store.ts";
import { type Bucket, findObject, placeOf } from "./bucket.ts";
import {
  abortMultipart,
  abortMultiparts,
  beginMultipart,
  joinParts,
  type Multipart,
  md5Of,
  sendPart,
} from "./multipart.ts";

const MOST_PARTS = 10_000;
/** Each holds its bytes in memory. */
const PARTS_AT_ONCE = 3;
/** Where the length is not known, parts become twice as long after so many. */
const PARTS_OF_A_LENGTH = 1000;
const TOKEN = "downlink-write";

interface Writing {
  readonly bucket: Bucket;
  readonly key: string;
  readonly token: string;
}

interface Put {
  readonly key: string;
  readonly body: AsyncIterable<Uint8Array>;
  readonly options: PutOptions;
}

/** BlobStore.put */
export async function putObject(bucket: Bucket, { key, body, options }: Put) {
  if (await findObject(bucket, key)) throw new BlobExistsError(key);
  const writing = { bucket, key, token: randomUUID() };
  const counted = new CountedBody(options.signal ? abortable(body, options.signal) : body, options);
  const blocks = inBlocks(counted, { blockBytes: bucket.blockBytes, expectedBytes: options.expectedBytes ?? 0 });
  const { value: first = Buffer.alloc(0), done } = await blocks.next();
  const second = done ? undefined : await blocks.next();
  if (second === undefined || second.done) await writeWhole(writing, first);
  else await writeInParts(writing, [first, second.value], blocks);
  return counted.result();
}

/** Its length and its SHA-256; the end is reached only where the body has the length that was announced. */
class CountedBody implements AsyncIterable<Uint8Array> {
  readonly #body: AsyncIterable<Uint8Array>;
  readonly #options: PutOptions;
  readonly #hash = createHash("sha256");
  #sizeBytes = 0;

  constructor(body: AsyncIterable<Uint8Array>, options: PutOptions) {
    this.#body = body;
    this.#options = options;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void> {
    const { maxBytes = Number.POSITIVE_INFINITY, expectedBytes } = this.#options;
    for await (const piece of this.#body) {
      this.#sizeBytes += piece.byteLength;
      if (this.#sizeBytes > maxBytes) throw new BlobTooLargeError(maxBytes);
      this.#hash.update(piece);
      yield piece;
    }
    if (expectedBytes !== undefined && this.#sizeBytes !== expectedBytes)
      throw new DigestMismatchError(`${expectedBytes} bytes were announced, ${this.#sizeBytes} came`);
  }

  result(): { sizeBytes: number; sha256: string } {
    return { sizeBytes: this.#sizeBytes, sha256: this.#hash.digest("hex") };
  }
}

async function writeWhole({ bucket, key, token }: Writing, bytes: Uint8Array): Promise<void> {
  const content = { Body: bytes, ContentMD5: md5Of(bytes), Metadata: { [TOKEN]: token } };
  try {
    await bucket.client.send(new PutObjectCommand({ ...placeOf(bucket, key), ...content, IfNoneMatch: "*" }));
  } catch (error) {
    await settle({ bucket, key, token }, error);
  }
}

async function writeInParts(
  writing: Writing,
  first: readonly Uint8Array[],
  rest: AsyncIterable<Uint8Array>,
): Promise<void> {
  const { bucket, key, token } = writing;
  const upload = await beginMultipart(bucket, key, { [TOKEN]: token });
  try {
    const parts = await sendParts(bucket, upload, chain(first, rest));
    if (await findObject(bucket, key)) throw new BlobExistsError(key);
    await joinParts(bucket, upload, parts);
  } catch (error) {
    await abortMultipart(bucket, upload); // from now on it is sure whether it became the object
    await settle(writing, error);
  }
  await abortMultiparts(bucket, key);
}

/** Returns where the object under the key is the one that was written, whatever its answer was; throws the error where it is not. */
async function settle({ bucket, key, token }: Writing, error: unknown): Promise<void> {
  const found = await findObject(bucket, key);
  if (found?.Metadata?.[TOKEN] === token) return;
  throw found ? new BlobExistsError(key) : error;
}

/** Some parts are sent while the next one comes in. */
async function sendParts(bucket: Bucket, upload: Multipart, blocks: AsyncIterable<Uint8Array>) {
  const sending: Promise<CompletedPart>[] = [];
  for await (const bytes of blocks) {
    await sending.at(-PARTS_AT_ONCE);
    const part = sendPart(bucket, upload, { number: sending.length + 1, bytes });
    part.catch(() => {}); // thrown at an await below; until then it must not count as unhandled
    sending.push(part);
  }
  return await Promise.all(sending);
}

async function* chain(first: readonly Uint8Array[], rest: AsyncIterable<Uint8Array>) {
  yield* first;
  yield* rest;
}

interface BlockSizes {
  readonly blockBytes: number;
  /** 0: not known. */
  readonly expectedBytes: number;
}

/** Pieces of any size in blocks, each with memory of its own. */
async function* inBlocks(pieces: AsyncIterable<Uint8Array>, sizes: BlockSizes): AsyncGenerator<Uint8Array, void> {
  let count = 0;
  let block = Buffer.allocUnsafeSlow(sizeOfBlock(count, sizes));
  let filledBytes = 0;
  for await (const piece of pieces) {
    for (let taken = 0; taken < piece.byteLength; ) {
      if (filledBytes === block.byteLength) {
        yield block;
        count += 1;
        [block, filledBytes] = [Buffer.allocUnsafeSlow(sizeOfBlock(count, sizes)), 0];
      }
      const fitting = piece.subarray(taken, taken + block.byteLength - filledBytes);
      block.set(fitting, filledBytes);
      filledBytes += fitting.byteLength;
      taken += fitting.byteLength;
    }
  }
  if (filledBytes > 0) yield block.subarray(0, filledBytes);
}

function sizeOfBlock(count: number, { blockBytes, expectedBytes }: BlockSizes): number {
  if (expectedBytes === 0) return blockBytes * 2 ** Math.floor(count / PARTS_OF_A_LENGTH);
  return Math.min(expectedBytes, Math.max(blockBytes, Math.ceil(expectedBytes / MOST_PARTS)));
}
