import { DeleteObjectCommand, GetObjectCommand, PutObjectCommand, paginateListObjectsV2 } from "@aws-sdk/client-s3";
import { BlobNotFoundError } from "../blob-errors.ts";
import { checkName, type Folder, type FolderFile } from "../folder.ts";
import { type Bucket, type BucketOptions, connectBucket, requireBucket } from "./bucket.ts";
import { openObject } from "./open-object.ts";
import { isS3Error } from "./s3-errors.ts";
import { putObject } from "./s3-put.ts";

/** Files as objects of a bucket, below its prefix. */
export async function openS3Folder(options: BucketOptions): Promise<Folder> {
  const bucket = connectBucket(options);
  await requireBucket(bucket);
  const remove = async (name: string) =>
    void (await bucket.client.send(new DeleteObjectCommand(textPlace(bucket, name))));
  return {
    address: `s3://${bucket.name}/${bucket.prefix}`,
    async put(name, body) {
      checkName(name);
      await remove(name);
      return await putObject(bucket, { key: name, body, options: {} });
    },
    async putText(name, text) {
      checkName(name);
      await bucket.client.send(
        new PutObjectCommand({ ...textPlace(bucket, name), Body: text, ContentType: "application/json" }),
      );
    },
    readText: (name) => readText(bucket, name),
    read: (name) => readObject(bucket, name),
    list: (prefix) => listObjects(bucket, prefix),
    remove,
    [Symbol.dispose]: () => bucket[Symbol.dispose](),
  };
}

async function readObject(bucket: Bucket, name: string): Promise<AsyncIterable<Uint8Array> | undefined> {
  try {
    const reader = await openObject(bucket, name);
    return reader.stream();
  } catch (error) {
    if (error instanceof BlobNotFoundError) return undefined;
    throw error;
  }
}

function textPlace(bucket: Bucket, name: string) {
  return { Bucket: bucket.name, Key: bucket.prefix + name };
}

async function readText(bucket: Bucket, name: string): Promise<string | undefined> {
  try {
    const { Body } = await bucket.client.send(new GetObjectCommand(textPlace(bucket, name)));
    return await Body!.transformToString();
  } catch (error) {
    if (!isS3Error(error, "NoSuchKey", "NotFound")) throw error;
    await requireBucket(bucket);
    return undefined;
  }
}

async function* listObjects(bucket: Bucket, prefix: string): AsyncGenerator<FolderFile, void> {
  const all = { Bucket: bucket.name, Prefix: bucket.prefix + prefix };
  for await (const { Contents = [] } of paginateListObjectsV2({ client: bucket.client }, all))
    for (const { Key, Size } of Contents) yield { name: Key!.slice(bucket.prefix.length), sizeBytes: Size! };
}
