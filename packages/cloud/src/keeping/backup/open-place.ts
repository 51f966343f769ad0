import { resolve } from "node:path";
import { openFileFolder } from "../../store/blobs/file-folder.ts";
import type { Folder } from "../../store/blobs/folder.ts";
import type { BucketSettings } from "../../store/bucket-uploads/store-address.ts";
import { BackupError } from "./backup-errors.ts";
import { encryptFolder } from "./encrypted-folder.ts";
import { readKey } from "./read-key.ts";

export interface PlaceAddress {
  readonly endpoint?: string | undefined;
  readonly region?: string | undefined;
  readonly forcePathStyle?: boolean | undefined;
  /** The file with the key by which the place is encrypted; undefined: it is not. */
  readonly keyFile: string | undefined;
}

const BUCKET = /^s3:\/\/([^/]+)\/?(.*)$/;

/**
 * Opens a folder, or `s3://bucket/prefix`. A bucket is looked for at the deployment's own endpoint, unless the address names another one;
 * its credentials are found in the same way. With a key, what is written there is encrypted.
 */
export async function openPlace(text: string, own: BucketSettings | undefined, given: PlaceAddress): Promise<Folder> {
  const key = await readKey(given.keyFile);
  using opened = new DisposableStack();
  const folder = await encryptFolder(opened.use(await openFolder(text, own, given)), key);
  opened.move();
  return folder;
}

async function openFolder(text: string, own: BucketSettings | undefined, given: PlaceAddress): Promise<Folder> {
  const [, bucket, prefix = ""] = BUCKET.exec(text) ?? [];
  if (bucket === undefined) {
    if (/^\w+:\/\//.test(text)) throw new BackupError(`${text} is neither a folder nor s3://bucket/prefix`);
    return await openFileFolder(resolve(text));
  }
  const { openS3Folder } = await import("../../store/blobs/s3/s3-folder.ts");
  return await openS3Folder({
    bucket,
    prefix: prefix === "" || prefix.endsWith("/") ? prefix : `${prefix}/`,
    endpoint: given.endpoint ?? own?.endpoint,
    region: given.region ?? own?.region ?? "us-east-1",
    forcePathStyle: given.forcePathStyle ?? own?.forcePathStyle ?? false,
  });
}
