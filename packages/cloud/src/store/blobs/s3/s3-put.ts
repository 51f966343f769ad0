// An object that fits into one block is one PutObject with `If-None-Match`, and a larger one is a multipart upload of its own. Every write
// carries a token as metadata: if an answer was lost, the token of the object under the key shows which write made it.

import { randomUUID } from "node:crypto";
import { PutObjectCommand } from "@aws-sdk/client-s3";
import { BlobExistsError } from "../blob-errors.ts";
import type { PutOptions } from "../blob-store.ts";
import { readBlocks, sendBlocks } from "../buckets/body-blocks.ts";
import type { PutResult } from "../buckets/bucket-client.ts";
import { type Bucket, findObject, placeOf } from "./bucket.ts";
import { abortMultipart, abortMultiparts, beginMultipart, joinParts, md5Of, sendPart } from "./multipart.ts";

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

/** Implements BlobStore.put. */
export async function putObject(bucket: Bucket, { key, body, options }: Put): Promise<PutResult> {
  if (await findObject(bucket, key)) throw new BlobExistsError(key);
  const writing = { bucket, key, token: randomUUID() };
  const blocks = await readBlocks(body, options, bucket.blockBytes);
  if (blocks.all) await writeInParts(writing, blocks.all);
  else await writeWhole(writing, blocks.first);
  return blocks.result();
}

async function writeWhole({ bucket, key, token }: Writing, bytes: Uint8Array): Promise<void> {
  const content = { Body: bytes, ContentMD5: md5Of(bytes), Metadata: { [TOKEN]: token } };
  try {
    await bucket.client.send(new PutObjectCommand({ ...placeOf(bucket, key), ...content, IfNoneMatch: "*" }));
  } catch (error) {
    await settle({ bucket, key, token }, error);
  }
}

async function writeInParts(writing: Writing, blocks: AsyncIterable<Uint8Array>): Promise<void> {
  const { bucket, key, token } = writing;
  const upload = await beginMultipart(bucket, key, { [TOKEN]: token });
  try {
    const parts = await sendBlocks(blocks, (number, bytes) => sendPart(bucket, upload, { number, bytes }));
    if (await findObject(bucket, key)) throw new BlobExistsError(key);
    await joinParts(bucket, upload, parts);
  } catch (error) {
    await abortMultipart(bucket, upload); // from now on it is certain whether it became the object
    await settle(writing, error);
  }
  await abortMultiparts(bucket, key);
}

/** Returns if the object under the key is the written one, whatever the answer was; otherwise throws the error. */
async function settle({ bucket, key, token }: Writing, error: unknown): Promise<void> {
  const found = await findObject(bucket, key);
  if (found?.Metadata?.[TOKEN] === token) return;
  throw found ? new BlobExistsError(key) : error;
}
