// A part is a blob of its own, beside one that says that the upload was begun: `_parts/<key>/<upload id>/<number>` and `…/begun`. Blocks of
// the service would be parts, too, but it forgets all of a key after a week without a new one, and as soon as a blob of that key is
// committed.

import { randomBytes } from "node:crypto";
import { BlobSASPermissions, generateBlobSASQueryParameters, StorageSharedKeyCredential } from "@azure/storage-blob";
import { runSomeAtOnce } from "../../../core/run-some-at-once.ts";
import { BlobExistsError, UploadClosedError } from "../blob-errors.ts";
import type { ListedObject } from "../blob-store.ts";
import type { BucketParts, Multipart, PartBytes, StoredPart } from "../buckets/bucket-client.ts";
import { PARTS } from "../buckets/part-objects.ts";
import { isAzureError } from "./azure-errors.ts";
import { findBlob, isMissing, isTaken, listBlobs, removeBlob, sendBlob, TOKEN } from "./azure-objects.ts";
import { blockId, commitBlocks } from "./azure-put.ts";
import type { Container } from "./container.ts";

const BEGUN = "begun";
const AT_ONCE = 16;
const COPY_MS = 60 * 60 * 1000;
const PART_NAME = /^(?<key>.+)\/(?<uploadId>[0-9a-f]{32})\/(?<name>\d{5}|begun)$/;

/** Keeps the parts of open uploads as blobs of a container. */
export function azureParts(container: Container): BucketParts {
  const isBegun = async (upload: Multipart) => (await findBlob(container, nameOf(upload, BEGUN))) !== undefined;
  return {
    async begin(key) {
      const upload = { key, uploadId: randomBytes(16).toString("hex") };
      await sendBlob(container, { name: nameOf(upload, BEGUN), bytes: new Uint8Array(0) });
      return upload;
    },
    list: (upload) => listParts(container, upload),
    has: async (upload, number) => (await findBlob(container, nameOf(upload, number))) !== undefined,
    send: (upload, part) => sendPart(container, upload, { part, isBegun }),
    join: (upload, parts) => joinParts(container, upload, { parts, isBegun }),
    isJoined: async ({ key, uploadId }) => (await findBlob(container, key))?.metadata?.[TOKEN] === uploadId,
    abort: (upload) => removeParts(container, nameOf(upload, ""), upload.key),
    abortAll: (key) => removeParts(container, `${PARTS}${key}/`, key),
    listUnfinished: (prefix) => listUnfinished(container, prefix),
  };
}

function nameOf({ key, uploadId }: Multipart, part: number | string): string {
  return `${PARTS}${key}/${uploadId}/${typeof part === "number" ? String(part).padStart(5, "0") : part}`;
}

function readName(name: string): Record<"key" | "uploadId" | "name", string> | undefined {
  return PART_NAME.exec(name.slice(PARTS.length))?.groups as Record<"key" | "uploadId" | "name", string> | undefined;
}

/** The last name is `begun`: if it is listed, no part before it had been removed. */
async function listParts(container: Container, upload: Multipart): Promise<StoredPart[] | undefined> {
  const parts: StoredPart[] = [];
  let isBegun = false;
  for await (const { name, properties } of listBlobs(container, nameOf(upload, ""))) {
    const { etag, contentLength, lastModified } = properties;
    const part = readName(name)?.name;
    if (part === BEGUN) isBegun = true;
    else if (part !== undefined)
      parts.push({ number: Number(part), etag, sizeBytes: contentLength!, storedAtMs: lastModified.getTime() });
  }
  return isBegun ? parts : undefined;
}

interface Sending {
  readonly part: PartBytes;
  readonly isBegun: (upload: Multipart) => Promise<boolean>;
}

/** Looks for `begun` after the part is written: an upload that must not go on is stopped by its removal. */
async function sendPart(container: Container, upload: Multipart, { part, isBegun }: Sending): Promise<void> {
  const name = nameOf(upload, part.number);
  try {
    await sendBlob(container, { name, bytes: part.bytes, isOnce: true, md5: part.md5 });
  } catch (error) {
    if (!isTaken(error)) throw error; // the same bytes were stored: the answer was lost, or another call was faster
  }
  if (await isBegun(upload)) return;
  await removeBlob(container, name);
  throw new UploadClosedError(upload.key);
}

interface Joining {
  readonly parts: readonly StoredPart[];
  readonly isBegun: (upload: Multipart) => Promise<boolean>;
}

/** The service itself copies the parts into blocks of the key; then their list is committed. */
async function joinParts(container: Container, upload: Multipart, { parts, isBegun }: Joining): Promise<void> {
  const { key, uploadId } = upload;
  const ids = parts.map(({ number }) => blockId(uploadId, number));
  try {
    const staged = parts.length > AT_ONCE ? await listStaged(container, key) : new Map<string, number>();
    const missing = parts.filter(({ number, sizeBytes }) => staged.get(blockId(uploadId, number)) !== sizeBytes);
    await runSomeAtOnce(missing, AT_ONCE, ({ number }) => copyPart(container, upload, number));
    if (!(await isBegun(upload))) throw new UploadClosedError(key);
    await commitBlocks({ container, key, token: uploadId }, ids);
  } catch (error) {
    if (isTaken(error)) throw new BlobExistsError(key);
    const isOurs = isAzureError(error, "InvalidBlockList", "CannotVerifyCopySource", "BlobNotFound");
    throw isOurs && !(await isBegun(upload)) ? new UploadClosedError(key) : error;
  }
}

/** Blocks that an earlier call has copied need not be copied again: so uploads of thousands of parts end, however often they are cut off. */
async function listStaged(container: Container, key: string): Promise<Map<string, number>> {
  try {
    const { uncommittedBlocks = [] } = await container.call("GetBlockList", () =>
      container.blob(key).getBlockList("uncommitted"),
    );
    return new Map(uncommittedBlocks.map(({ name, size }) => [name, size]));
  } catch (error) {
    if (isMissing(error)) return new Map();
    throw error;
  }
}

/** The service reads the part itself, so that its bytes do not come through this process. */
async function copyPart(container: Container, upload: Multipart, number: number): Promise<void> {
  const source = sourceOf(container, nameOf(upload, number));
  const blob = container.blob(upload.key);
  await container.call("PutBlockFromURL", () => blob.stageBlockFromURL(blockId(upload.uploadId, number), source));
}

/** The source of a copy needs a signature in its address, which no one but the service gets. */
function sourceOf({ credential, account, ...container }: Container, name: string): string {
  const { url, containerName } = container.client;
  if (!("accountKey" in credential)) return container.blob(name).url; // the signature of the settings is in it
  const signed = {
    containerName,
    blobName: container.prefix + name,
    permissions: BlobSASPermissions.parse("r"),
    expiresOn: new Date(Date.now() + COPY_MS),
  };
  const key = new StorageSharedKeyCredential(account, credential.accountKey);
  return `${url}/${container.prefix}${name}?${generateBlobSASQueryParameters(signed, key)}`;
}

/** Removes `begun` first. After this the upload neither holds a byte nor can become the object. */
async function removeParts(container: Container, prefix: string, key: string): Promise<void> {
  const names: string[] = [];
  for await (const { name } of listBlobs(container, prefix)) if (readName(name)?.key === key) names.push(name);
  const remove = (name: string) => removeBlob(container, name);
  const [begun, parts] = [true, false].map((is) => names.filter((name) => name.endsWith(`/${BEGUN}`) === is));
  await runSomeAtOnce(begun!, AT_ONCE, remove);
  await runSomeAtOnce(parts!, AT_ONCE, remove);
}

async function* listUnfinished(container: Container, prefix: string): AsyncGenerator<ListedObject, void> {
  for await (const { name, properties } of listBlobs(container, PARTS + prefix)) {
    const key = readName(name)?.key;
    const { contentLength, lastModified } = properties;
    if (key !== undefined)
      yield { key, isWhole: false, sizeBytes: contentLength!, modifiedAtMs: lastModified.getTime() };
  }
}
