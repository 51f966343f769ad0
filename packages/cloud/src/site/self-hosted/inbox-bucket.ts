// An object is whole as soon as it is there, and each of its versions is another one: the version that was listed is imported and removed, and
// what came under its name meanwhile stays. In `_quarantine/` objects stand below the id of their request, so that a repeat replaces only itself.

import { isStorable } from "@downlink/protocol";
import type { Logger } from "pino";
import { type ListedName, UNNAMED_VERSION } from "../../store/blobs/buckets/customer-bucket.ts";
import type { InboxBucket, ObjectVersion } from "../../store/blobs/s3/inbox-bucket.ts";
import { type EndingFile, type InboxFile, type InboxPlace, isTaken, QUARANTINE } from "./inbox-place.ts";

const MAX_NAME_BYTES = 1024;

/** Opens an inbox that is a part of a bucket. */
export function openInboxBucket(bucket: InboxBucket, prefix: string, log: Pick<Logger, "warn">): InboxPlace {
  return {
    list: (most) => listFiles(bucket, most, log),
    confirm: (file) => confirm(bucket, file),
    read: (file) => bucket.read(versionOf(file)),
    remove: (file) => bucket.remove(versionOf(file)),
    quarantine: (file, reason) => quarantine(bucket, file, { reason, prefix }),
  };
}

async function listFiles(bucket: InboxBucket, most: number, log: Pick<Logger, "warn">): Promise<InboxFile[]> {
  const found: InboxFile[] = [];
  for await (const page of bucket.list()) {
    for (const listed of page) {
      if (!isForInbox(listed)) continue;
      if (isStorable(listed.name)) found.push(toFile(listed));
      else log.warn({ name: listed.name }, "an object of the inbox has a name that no database can hold, and stays");
    }
    if (found.length >= most) break;
  }
  return found.slice(0, most);
}

/** A name that ends with a slash stands for a folder. */
function isForInbox({ name }: ListedName): boolean {
  const folders = name.split("/").slice(0, -1);
  return (
    !name.endsWith("/") &&
    name !== "" &&
    !isTaken(name) &&
    !folders.some((_, at) => isTaken(folders.slice(0, at + 1).join("/")))
  );
}

function toFile({ name, etag, sizeBytes, modifiedAtNs }: ListedName): InboxFile {
  return { path: name, etag, sizeBytes: Number(sizeBytes), modifiedAtMs: Number(modifiedAtNs / 1_000_000n) };
}

/** A listing knows no versions. One that was known before has to be the newest of its name still. */
async function confirm(bucket: InboxBucket, file: InboxFile): Promise<InboxFile | undefined> {
  const found = await bucket.find(file.path);
  if (found?.etag !== file.etag || Number(found?.sizeBytes) !== file.sizeBytes) return undefined;
  const versionId = found?.versionId ?? UNNAMED_VERSION;
  return file.versionId === undefined || file.versionId === versionId ? { ...file, versionId } : undefined;
}

function versionOf({ path, etag, versionId, sizeBytes }: InboxFile): ObjectVersion {
  return { name: path, etag: etag!, versionId: versionId!, sizeBytes };
}

interface Quarantine {
  readonly reason: string;
  readonly prefix: string;
}

async function quarantine(bucket: InboxBucket, file: EndingFile, { reason, prefix }: Quarantine): Promise<void> {
  const place = `${QUARANTINE}/${file.requestId}`;
  const name = `${place}/${file.path}`;
  const isShort = Buffer.byteLength(prefix + name) <= MAX_NAME_BYTES;
  if (!(await bucket.hasVersion(versionOf(file)))) return; // a killed process was as far as this
  await bucket.copy(versionOf(file), isShort ? name : `${place}/object`);
  await bucket.putText(`${place}.reason.txt`, `${file.path}\n${reason}\n`);
  await bucket.remove(versionOf(file));
}
