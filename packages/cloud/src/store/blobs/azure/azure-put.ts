// An object that fits into one block is one blob that is put with `If-None-Match`. A larger one is put in blocks, which the service joins
// once their list is committed, with `If-None-Match` too. Blocks that were never committed are not visible, and the service forgets them
// after a week, or as soon as a blob of that key is committed.

import { createHash, randomBytes } from "node:crypto";
import { BlobExistsError } from "../blob-errors.ts";
import type { PutOptions } from "../blob-store.ts";
import { readBlocks, sendBlocks } from "../buckets/body-blocks.ts";
import type { PutResult } from "../buckets/bucket-client.ts";
import { findBlob, sendBlob, TOKEN } from "./azure-objects.ts";
import type { Container } from "./container.ts";

interface Put {
  readonly key: string;
  readonly body: AsyncIterable<Uint8Array>;
  readonly options: PutOptions;
}

/**
 * Every write has block names and a token of its own: if an answer was lost, the token of the blob under the key shows which write made it.
 */
interface Writing {
  readonly container: Container;
  readonly key: string;
  readonly token: string;
}

/** Implements BlobStore.put. */
export async function putBlob(container: Container, { key, body, options }: Put): Promise<PutResult> {
  if (await findBlob(container, key)) throw new BlobExistsError(key);
  const writing = { container, key, token: randomBytes(16).toString("hex") };
  const blocks = await readBlocks(body, options, container.blockBytes);
  try {
    if (blocks.all) await writeInBlocks(writing, blocks.all);
    else await writeWhole(writing, blocks.first);
  } catch (error) {
    await settle(writing, error);
  }
  return blocks.result();
}

async function writeWhole({ container, key, token }: Writing, bytes: Uint8Array): Promise<void> {
  await sendBlob(container, { name: key, bytes, isOnce: true, metadata: { [TOKEN]: token } });
}

async function writeInBlocks({ container, key, token }: Writing, blocks: AsyncIterable<Uint8Array>): Promise<void> {
  const blob = container.blob(key);
  const ids = await sendBlocks(blocks, async (number, bytes) => {
    const id = blockId(token, number);
    const transactionalContentMD5 = createHash("md5").update(bytes).digest();
    const sent = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    await container.call("PutBlock", () => blob.stageBlock(id, sent, sent.byteLength, { transactionalContentMD5 }));
    return id;
  });
  await commitBlocks({ container, key, token }, ids);
}

/** Makes the blob of its blocks, unless another blob has the key already. */
export async function commitBlocks({ container, key, token }: Writing, ids: string[]): Promise<void> {
  const options = { conditions: { ifNoneMatch: "*" }, metadata: { [TOKEN]: token } };
  await container.call("PutBlockList", () => container.blob(key).commitBlockList(ids, options));
}

/** The service wants all block names of a blob to have one length. */
export function blockId(token: string, number: number): string {
  return Buffer.from(`${token}-${String(number).padStart(5, "0")}`).toString("base64");
}

/** Returns if the blob under the key is the written one, whatever the answer was; otherwise throws the error. */
async function settle({ container, key, token }: Writing, error: unknown): Promise<void> {
  const found = await findBlob(container, key);
  if (found?.metadata?.[TOKEN] === token) return;
  throw found ? new BlobExistsError(key) : error;
}
