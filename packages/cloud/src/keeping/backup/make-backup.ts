// A backup is made while the deployment runs. First the database is copied, as it was at one moment. Then the objects are copied; none is
// removed during a backup (`recovery/removals-held.ts`), so that each object that the copy names exists. Then the notes are copied, and last
// `backup.json` is written. A backup that fails leaves copies of objects, which the next backup uses.

import { rm } from "node:fs/promises";
import { Readable } from "node:stream";
import { abortable } from "../../core/abortable.ts";
import type { Database } from "../../db/client.ts";
import { withTransaction } from "../../db/transaction.ts";
import { recordBackup } from "../../recovery/known-backups.ts";
import { noteEntries } from "../../recovery/note-entries.ts";
import { type HeldRemovals, holdRemovals } from "../../recovery/removals-held.ts";
import type { BlobStore } from "../../store/blobs/blob-store.ts";
import type { Folder } from "../../store/blobs/folder.ts";
import { keepListing, openSession } from "../integrity/listed-objects.ts";
import { findMissingObjects } from "../integrity/object-checks.ts";
import { createPromised } from "../integrity/promised-objects.ts";
import { BackupRunningError } from "./backup-errors.ts";
import { type BackupFile, nameOf, writeRecord } from "./backup-record.ts";
import { readBaseBackup } from "./base-backup.ts";
import type { Retention } from "./choose-backups.ts";
import { keepCopied } from "./copied-objects.ts";
import { copyNotes } from "./copy-notes.ts";
import { copyObjects, type Source } from "./copy-objects.ts";
import { forgetBackups } from "./forget-backups.ts";
import { proveDatabase } from "./prove-database.ts";
import { readVerified } from "./verify-file.ts";

export interface BackupDeps {
  readonly db: Pick<Database, "pool" | "prisma">;
  readonly blobs: BlobStore;
}

export interface BackupOptions {
  readonly folder: Folder;
  /** The URL of the embedded database; undefined: the operator copies the database. */
  readonly databaseUrl: string | undefined;
  readonly fileOf: Source["fileOf"] | undefined;
  /** A folder in which the copy of the database is started once; it is made and removed again. */
  readonly proofDir: string;
  readonly adminKey: string | undefined;
  readonly nowMs: () => number;
  /** Which complete backups stay in the place, with this one. */
  readonly keep: Retention;
  readonly signal: AbortSignal;
  readonly write: (line: string) => void;
  /** Reports something that the backup lacks. */
  readonly warn: (text: string) => void;
}

/** Makes a backup. Returns false if objects are missing in it; rejects if the backup was not completed. */
export async function makeBackup(deps: BackupDeps, options: BackupOptions): Promise<boolean> {
  const held = await holdRemovals(deps.db.pool);
  if (!held) throw new BackupRunningError();
  await using _held = held;
  const { folder, write, nowMs } = options;
  const startedMs = nowMs();
  const backup = nameOf(startedMs);
  let isWhole = true;
  const warn = (text: string) => {
    isWhole = false;
    options.warn(text);
  };
  const step = { ...options, backup, held, warn };
  const database = await copyDatabase(step);
  await using session = await openSession(deps.db.pool);
  await createPromised(session);
  await keepListing(session, deps.blobs.list(""));
  await keepCopied(session, folder);
  const source: Source = { blobs: deps.blobs, ...(options.fileOf && { fileOf: options.fileOf }) };
  const objects = await copyObjects({ ...step, session, source });
  const lost = findMissingObjects({ session, db: deps.db, blobs: deps.blobs, nowMs: nowMs() });
  for await (const { subject, text } of lost) warn(`${subject}: ${text}; the backup has what an earlier one has of it`);
  write(`${objects.count} objects of ${objects.bytes} bytes, ${objects.copied} of them new`);
  const notes = await copyNotes({ notes: deps.blobs, folder, backup });
  for (const file of [...objects.files, ...notes.files]) await readVerified(folder, file);
  write(`${notes.count} notes`);
  await held.requireHeld();
  const files = [...database.files, ...objects.files, ...notes.files];
  const times = { startedAt: new Date(startedMs).toISOString(), endedAt: new Date(nowMs()).toISOString() };
  const { count, bytes } = objects;
  await writeRecord(folder, backup, {
    ...times,
    database: database.facts,
    objects: { count, bytes },
    notes: notes.count,
    files,
  });
  write(`the backup ${backup} in ${folder.address} is complete; it holds secrets`);
  if (isWhole) await remember(deps, { name: backup, startedMs });
  await forgetBackups({ session, folder, backup, keep: options.keep });
  return isWhole;
}

/** From now on devices may delete what was imported before, unless `DOWNLINK_DELETE_SAFETY` says otherwise. */
async function remember(deps: BackupDeps, backup: { name: string; startedMs: number }): Promise<void> {
  await withTransaction(deps.db, (tx) => recordBackup(tx, backup));
  await noteEntries(deps);
}

interface Step extends BackupOptions {
  readonly backup: string;
  readonly held: HeldRemovals;
}

interface CopiedDatabase {
  readonly facts: { readonly postgres: string; readonly incarnation: string } | null;
  readonly files: readonly BackupFile[];
}

/** Copies the database, reads the copy back, compares it with Postgres's manifest and starts it. */
async function copyDatabase(step: Step): Promise<CopiedDatabase> {
  const { folder, backup, write, databaseUrl, proofDir, adminKey } = step;
  if (databaseUrl === undefined) {
    write(
      "the database of DATABASE_URL is yours to copy (pg_basebackup, pg_dump), before the objects: they are copied from here on",
    );
    return { facts: null, files: [] };
  }
  let manifest: Buffer = Buffer.alloc(0);
  const onManifest = (bytes: Buffer) => (manifest = bytes);
  const names = { archive: `${backup}/database`, manifest: `${backup}/database-manifest`, key: `${backup}/admin-key` };
  const archive = await folder.put(
    names.archive,
    abortable(readBaseBackup({ url: databaseUrl, label: backup, onManifest }), step.signal),
  );
  const files = [
    { name: names.archive, ...archive },
    { name: names.manifest, ...(await putBytes(folder, names.manifest, manifest)) },
  ];
  if (adminKey !== undefined)
    files.push({ name: names.key, ...(await putBytes(folder, names.key, Buffer.from(adminKey))) });
  write(`the database: ${archive.sizeBytes} bytes`);
  await rm(proofDir, { recursive: true, force: true });
  const { version, incarnation } = await proveDatabase(
    { archive: (await folder.read(names.archive))!, manifest },
    proofDir,
  );
  write(`the copy of the database is what Postgres ${version} sent, and starts`);
  return { facts: { postgres: version, incarnation }, files };
}

function putBytes(folder: Folder, name: string, bytes: Buffer) {
  return folder.put(name, Readable.from([bytes], { objectMode: true }));
}
