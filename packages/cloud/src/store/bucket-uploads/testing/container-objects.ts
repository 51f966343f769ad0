import { createHash } from "node:crypto";
import { type BlobClient, ContainerClient, RestError, StorageSharedKeyCredential } from "@azure/storage-blob";
import type { TestContainer, TestObject } from "../../../testing/test-store.ts";

/** Key, size and SHA-256 of every object below a prefix. */
export async function readObjects(place: TestContainer, prefix = ""): Promise<TestObject[]> {
  const container = connect(place);
  const objects: TestObject[] = [];
  for await (const { name } of container.listBlobsFlat({ prefix })) {
    const bytes = await readBlob(container.getBlobClient(name));
    if (!bytes) continue; // it was removed meanwhile
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    objects.push({ key: name.slice(prefix.length), sizeBytes: bytes.byteLength, sha256 });
  }
  return objects;
}

async function readBlob(blob: BlobClient): Promise<Buffer | undefined> {
  try {
    return await blob.downloadToBuffer();
  } catch (error) {
    if (error instanceof RestError && error.statusCode === 404) return undefined;
    throw error;
  }
}

/** Copies every object below a prefix to another one. */
export async function copyObjects(place: TestContainer, from: string, to: string): Promise<void> {
  const container = connect(place);
  for await (const { name } of container.listBlobsFlat({ prefix: from })) {
    const bytes = await container.getBlobClient(name).downloadToBuffer();
    await writeObject(place, to + name.slice(from.length), bytes);
  }
}

/** Removes every object below a prefix. */
export async function removeObjects(place: TestContainer, prefix: string): Promise<void> {
  const container = connect(place);
  for await (const { name } of container.listBlobsFlat({ prefix })) await container.getBlobClient(name).delete();
}

export async function writeObject(place: TestContainer, key: string, bytes: Uint8Array): Promise<void> {
  await connect(place).getBlockBlobClient(key).upload(Buffer.from(bytes), bytes.byteLength);
}

function connect({ account, endpoint, container, accountKey }: TestContainer): ContainerClient {
  return new ContainerClient(`${endpoint}/${container}`, new StorageSharedKeyCredential(account, accountKey));
}
