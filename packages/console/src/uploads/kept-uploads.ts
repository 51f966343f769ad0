import { z } from "zod";
import { forget, keep, readKept } from "../browser/kept.ts";
import { KEPT_KEY } from "../browser/upload-tray.ts";

/** A record of an upload that has begun, by which it goes on after a reload. */
const KeptUpload = z.object({
  requestId: z.string().min(1),
  name: z.string(),
  size: z.int().min(1),
  /** Milliseconds since 1970. */
  lastModified: z.number(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  projectId: z.string(),
  device: z.string(),
  sessionKey: z.string().optional(),
  /** The user who began it: another one does not see it. */
  userId: z.string(),
});
export type KeptUpload = z.infer<typeof KeptUpload>;

/** More are those of years. */
const MOST = 100;

/** Returns the records in a text that this browser kept, without those that are none. */
export function parseKept(text: string | undefined): readonly KeptUpload[] {
  const all = z.array(z.unknown()).safeParse(parseJson(text ?? "[]"));
  return (all.data ?? []).flatMap((one) => KeptUpload.safeParse(one).data ?? []);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // another program of this origin may have written it
  }
}

export function readKeptUploads(): readonly KeptUpload[] {
  return parseKept(readKept(KEPT_KEY));
}

export function keepUpload(record: KeptUpload): void {
  write(withUpload(readKeptUploads(), record));
}

export function forgetUpload(requestId: string): void {
  write(readKeptUploads().filter((one) => one.requestId !== requestId));
}

/** Returns the records with a newer one, without the oldest if there are too many. */
export function withUpload(records: readonly KeptUpload[], record: KeptUpload): readonly KeptUpload[] {
  return [...records.filter(({ requestId }) => requestId !== record.requestId), record].slice(-MOST);
}

/** Without records the tray need not be loaded with the next page. */
function write(records: readonly KeptUpload[]): void {
  if (records.length === 0) forget(KEPT_KEY);
  else keep(KEPT_KEY, JSON.stringify(records));
}

interface FileFacts {
  readonly name: string;
  readonly size: number;
  readonly lastModified: number;
}

/** Returns whether a file is taken for another one without reading it. */
export function isSameFile(one: FileFacts, other: FileFacts): boolean {
  return one.name === other.name && one.size === other.size && one.lastModified === other.lastModified;
}
