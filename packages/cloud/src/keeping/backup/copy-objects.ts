// Each object is copied once for all backups of a place. A copy that has the right size, and whose SHA-256 an earlier backup knows,
// complete or not, stays as it is; a copy that a crash left without that is read again, as each new copy is. An object that rows need and the store has lost
// stays in the backup as long as an earlier one has it.

import { createHash } from "node:crypto";
import { abortable } from "../../core/abortable.ts";
import { Prisma } from "../../db/generated/client.ts";
import { BlobNotFoundError } from "../../store/blobs/blob-errors.ts";
import type { BlobStore } from "../../store/blobs/blob-store.ts";
import type { Folder } from "../../store/blobs/folder.ts";
import type { Session } from "../integrity/listed-objects.ts";
import { pagesOf } from "../integrity/suspects.ts";
import { DamagedBackupError } from "./backup-errors.ts";
import { type BackupFile, OBJECTS } from "./backup-record.ts";
import { type ObjectLine, toLines } from "./lines.ts";
import { runInTurns } from "./run-in-turns.ts";

export interface Source {
  readonly blobs: Pick<BlobStore, "open">;
  /** Returns the path of an object, if objects are files. */
  readonly fileOf?: (key: string) => string;
}

interface Copying {
  readonly session: Session;
  readonly source: Source;
  readonly folder: Folder;
  readonly backup: string;
  readonly signal: AbortSignal;
  /** Reports something that an operator should look at. */
  readonly warn: (text: string) => void;
}

export interface CopiedObjects {
  readonly count: number;
  readonly bytes: number;
  readonly copied: number;
  readonly files: readonly BackupFile[];
}

interface Planned {
  readonly key: string;
  readonly sizeBytes: string;
  readonly isStored: boolean;
  /** The hash that an earlier backup recorded. */
  readonly known: string | null;
  /** The hash in the row. */
  readonly promised: string | null;
}

const PLAN = Prisma.sql`
  SELECT o.key, o."sizeBytes", coalesce(s."sizeBytes" = o."sizeBytes", false) AS "isStored",
    (SELECT k.sha256 FROM known k WHERE k.key = o.key AND k."sizeBytes" = o."sizeBytes" LIMIT 1) AS known,
    (SELECT p.sha256 FROM promised p WHERE p.key = o.key AND p.sha256 IS NOT NULL LIMIT 1) AS promised
  FROM (
    SELECT key, "sizeBytes" FROM listed WHERE "isWhole"
    UNION ALL SELECT s.key, s."sizeBytes" FROM stored s
      WHERE EXISTS (SELECT FROM promised p WHERE p.key = s.key) AND EXISTS (SELECT FROM known k WHERE k.key = s.key)
        AND NOT EXISTS (SELECT FROM listed l WHERE l.key = s.key AND l."isWhole")
  ) o LEFT JOIN stored s ON s.key = o.key`;

/** Brings the copies up to date, and records which objects the backup has. */
export async function copyObjects(copying: Copying): Promise<CopiedObjects> {
  const files: BackupFile[] = [];
  let [count, bytes, copied] = [0, 0, 0];
  for await (const page of pagesOf<Planned>(copying.session, PLAN)) {
    copying.signal.throwIfAborted();
    const kept = await runInTurns(page, (planned) => keepOne(copying, planned));
    const lines = kept.flatMap((one) => (one === undefined ? [] : [one.line]));
    files.push(await writeLines(copying, files.length + 1, lines));
    count += lines.length;
    bytes += lines.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    copied += kept.filter((one) => one?.isNew).length;
  }
  return { count, bytes, copied, files };
}

async function writeLines(
  { folder, backup }: Copying,
  number: number,
  lines: readonly ObjectLine[],
): Promise<BackupFile> {
  const name = `${backup}/objects-${String(number).padStart(6, "0")}`;
  return { name, ...(await folder.put(name, toLines(lines))) };
}

interface Kept {
  readonly line: ObjectLine;
  readonly isNew: boolean;
}

/** Returns undefined for an object that was removed meanwhile or has changed. */
async function keepOne(copying: Copying, planned: Planned): Promise<Kept | undefined> {
  copying.signal.throwIfAborted();
  const { key, known, promised, isStored } = planned;
  const sizeBytes = Number(planned.sizeBytes);
  if (isStored && known !== null) return { line: { key, sizeBytes, sha256: known }, isNew: false };
  const sha256 = (isStored && (await reread(copying, planned))) || (await copyOne(copying, key));
  if (sha256 === undefined) return undefined;
  if (promised === null || promised === sha256) return { line: { key, sizeBytes, sha256 }, isNew: !isStored };
  copying.warn(`${key} is not what was imported, and is left out: its SHA-256 is ${sha256} instead of ${promised}`);
  await copying.folder.remove(OBJECTS + key);
  return undefined;
}

/** Reads a copy that a broken backup left; returns undefined if it differs from the row. */
async function reread(copying: Copying, { key, promised }: Planned): Promise<string | undefined> {
  const sha256 = await hashCopy(copying, key);
  return promised === null || promised === sha256 ? sha256 : undefined;
}

/** Returns undefined if there is no copy. */
async function hashCopy({ folder, signal }: Copying, key: string): Promise<string | undefined> {
  const copy = await folder.read(OBJECTS + key);
  if (!copy) return undefined;
  const hash = createHash("sha256");
  for await (const piece of abortable(copy, signal)) hash.update(piece);
  return hash.digest("hex");
}

async function copyOne(copying: Copying, key: string): Promise<string | undefined> {
  const { folder, source, signal } = copying;
  try {
    const copied = await copyFile(folder, source, key);
    if (copied !== undefined) return copied;
    await using reader = await source.blobs.open(key);
    const { sha256 } = await folder.put(OBJECTS + key, abortable(reader.stream(), signal));
    if ((await hashCopy(copying, key)) === sha256) return sha256;
    await folder.remove(OBJECTS + key);
    throw new DamagedBackupError(`the copy of ${key} is not what was written a moment ago`);
  } catch (error) {
    if (error instanceof BlobNotFoundError) return undefined;
    throw error;
  }
}

/** Returns undefined if the object is no file, or none here: while the objects move to another store, it may be there. */
async function copyFile(folder: Folder, { fileOf }: Source, key: string): Promise<string | undefined> {
  if (!fileOf || !folder.putCopy) return undefined;
  try {
    return (await folder.putCopy(OBJECTS + key, fileOf(key))).sha256;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
