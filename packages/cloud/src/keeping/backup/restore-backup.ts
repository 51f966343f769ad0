// A backup is restored into an empty place. The database is unpacked beside its final place, compared with Postgres's manifest, started and
// given another incarnation. Then objects and notes are written, and last the database gets its final name. The same command continues a
// restore that was interrupted; until then nothing starts in that place (`requireRestored`).

import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Database, openDatabase } from "../../db/client.ts";
import { startEmbeddedPostgres } from "../../db/embedded-postgres.ts";
import { applyMigrations, migrationsDir } from "../../db/migrations.ts";
import { withTransaction } from "../../db/transaction.ts";
import { openIncarnation } from "../../recovery/incarnations.ts";
import { recordBackup } from "../../recovery/known-backups.ts";
import { BlobExistsError } from "../../store/blobs/blob-errors.ts";
import type { BlobStore } from "../../store/blobs/blob-store.ts";
import { syncDirectory } from "../../store/blobs/durable-file.ts";
import type { Folder } from "../../store/blobs/folder.ts";
import { groupItems } from "../integrity/group-items.ts";
import { BackupError, DamagedBackupError } from "./backup-errors.ts";
import { type BackupRecord, findBackup, OBJECTS, requireFile } from "./backup-record.ts";
import { NOTE_KINDS } from "./copy-notes.ts";
import type { NoteLine, ObjectLine } from "./lines.ts";
import { layDownDatabase } from "./prove-database.ts";
import { runInTurns } from "./run-in-turns.ts";
import { openFile, readVerified, readVerifiedLines, verifyPieces } from "./verify-file.ts";

export interface RestoreOptions {
  readonly folder: Folder;
  /** The name of the backup; undefined: the newest complete one. */
  readonly backup: string | undefined;
  readonly dataDir: string;
  /** Undefined: the database is embedded. */
  readonly databaseUrl: string | undefined;
  /** Opens the store, with a database that may be queried. */
  readonly openBlobs: (opened: AsyncDisposableStack, db: Database) => Promise<BlobStore>;
  /** Objects that are damaged in the backup are left out; otherwise they end the restore. */
  readonly isLeavingOutDamaged: boolean;
  readonly nowNs: () => bigint;
  readonly write: (line: string) => void;
}

const MARKER = "restoring";

/** Throws if a restore into this place did not come to its end. */
export function requireRestored(dataDir: string): void {
  if (!existsSync(join(dataDir, MARKER))) return;
  throw new BackupError(`a restore into ${dataDir} did not come to its end; give the same command again`);
}

/** Restores a backup. Returns false if something was left out. */
export async function restoreBackup(options: RestoreOptions): Promise<boolean> {
  const { folder, dataDir, write } = options;
  const { name, record } = await findBackup(folder, options.backup);
  requireFitting(record, options);
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const place = { ...options, name, record, marker: join(dataDir, MARKER), origin: `${folder.address} ${name}\n` };
  const isResumed = await requireEmptyDatabase(place);
  write(`restoring the backup ${name} of ${record.startedAt}`);
  const isWhole = await restoreAll(place, isResumed);
  await rm(place.marker, { force: true });
  write(
    "restored; start Downlink now. It recovers first: devices delete nothing before it has compared all with the store",
  );
  return isWhole;
}

interface Place extends RestoreOptions {
  readonly name: string;
  readonly record: BackupRecord;
  /** A file that exists while the restore runs. */
  readonly marker: string;
  /** The contents of that file. */
  readonly origin: string;
}

function requireFitting({ database }: BackupRecord, { databaseUrl }: RestoreOptions): void {
  if (database && databaseUrl !== undefined)
    throw new BackupError(
      "the backup has a database, and DATABASE_URL names another one: restore without DATABASE_URL",
    );
  if (!database && databaseUrl === undefined)
    throw new BackupError("the backup has objects only: restore your database first, and set DATABASE_URL to it");
}

/** Throws if the place is not empty. Returns whether this same restore was begun there already. */
async function requireEmptyDatabase({ dataDir, marker, origin, record }: Place): Promise<boolean> {
  const begun = existsSync(marker) ? await readFile(marker, "utf8") : undefined;
  if (begun !== undefined && begun !== origin)
    throw new BackupError(
      `a restore of ${begun.trim()} into ${dataDir} was begun: go on with that one, or take an empty folder`,
    );
  if (begun === undefined && record.database && existsSync(join(dataDir, "postgres")))
    throw new BackupError(`${dataDir} holds a database: a backup is restored into an empty place only`);
  return begun !== undefined;
}

async function restoreAll(place: Place, isResumed: boolean): Promise<boolean> {
  const { record, dataDir, databaseUrl } = place;
  if (!record.database) return await restoreStore(place, { url: databaseUrl!, isResumed });
  const [unfinished, final] = [join(dataDir, "postgres.restoring"), join(dataDir, "postgres")];
  if (existsSync(final)) return true; // the restore was interrupted after its last step
  await using failing = new AsyncDisposableStack();
  failing.defer(() => rm(unfinished, { recursive: true, force: true }));
  await layDownDatabase(await readDatabase(place), { dir: unfinished, isDurable: true });
  const isWhole = await startOnce(unfinished, (url) => restoreStore(place, { url, isResumed }));
  await restoreAdminKey(place);
  await rename(unfinished, final);
  await syncDirectory(dataDir);
  failing.move();
  return isWhole;
}

async function startOnce<T>(dir: string, use: (url: string) => Promise<T>): Promise<T> {
  await using server = await startEmbeddedPostgres({ dir, log: { info: () => {}, warn: () => {} } });
  return await use(server.url);
}

interface Store {
  readonly url: string;
  readonly isResumed: boolean;
}

/** Writes objects and notes, and gives the database another incarnation. */
async function restoreStore(place: Place, { url, isResumed }: Store): Promise<boolean> {
  const log = { info: () => {}, warn: () => {} };
  await applyMigrations({ url, dir: migrationsDir, log });
  await using opened = new AsyncDisposableStack();
  const db = opened.use(openDatabase(url, { maxConnections: 4, log }));
  const blobs = await place.openBlobs(opened, db);
  if (!isResumed) await requireEmptyStore(blobs);
  await writeFile(place.marker, place.origin, { mode: 0o600 });
  const isWhole = await restoreObjects(place, blobs);
  await restoreNotes(place, blobs);
  const reason = `it was restored from the backup ${place.name}`;
  await withTransaction(db, async (tx) => {
    await tx.storeMove.deleteMany(); // what moved there to another store is all in this one
    await openIncarnation(tx, { reason, nowNs: place.nowNs() });
    await recordBackup(tx, { name: place.name, startedMs: Date.parse(place.record.startedAt) });
  });
  return isWhole;
}

async function requireEmptyStore(blobs: BlobStore): Promise<void> {
  const refuse = (what: string) => {
    throw new BackupError(`the object store holds ${what}: a backup is restored into an empty place only`);
  };
  for await (const { key } of blobs.list("")) refuse(`an object, ${key}`);
  for (const kind of NOTE_KINDS) for await (const { key } of blobs.listNotes(`${kind}/`)) refuse(`a note, ${key}`);
}

/** Reads the copy of the database, and compares its bytes with the recorded ones on the way. */
async function readDatabase({ folder, record, name }: Place) {
  const fileOf = (file: string) => requireFile(record, `${name}/${file}`);
  const manifest = await readVerified(folder, fileOf("database-manifest"));
  return { manifest, archive: verifyPieces(await openFile(folder, fileOf("database")), fileOf("database")) };
}

async function* linesOf<Line>({ folder, record, name }: Place, kind: "objects" | "notes"): AsyncGenerator<Line, void> {
  for (const file of record.files)
    if (file.name.startsWith(`${name}/${kind}-`)) yield* readVerifiedLines<Line>(folder, file);
}

const OBJECTS_PER_TURN = 200;

async function restoreObjects(place: Place, blobs: BlobStore): Promise<boolean> {
  let isWhole = true;
  let count = 0;
  for await (const lines of groupItems(linesOf<ObjectLine>(place, "objects"), OBJECTS_PER_TURN)) {
    const faults = await runInTurns(lines, (line) => restoreObject(place, blobs, line));
    for (const fault of faults) {
      if (fault === undefined) continue;
      if (!place.isLeavingOutDamaged) throw new DamagedBackupError(`${fault}; --leave-out-damaged goes on without it`);
      place.write(`WARNING: ${fault}; it is left out`);
      isWhole = false;
    }
    count += lines.length;
  }
  place.write(`${count} objects`);
  return isWhole;
}

/** Returns what is wrong with the object in the backup. An object that exists already was written before the restore broke off. */
async function restoreObject({ folder }: Place, blobs: BlobStore, line: ObjectLine): Promise<string | undefined> {
  const { key, sizeBytes, sha256 } = line;
  const body = await folder.read(OBJECTS + key);
  if (!body) return `the object ${key} is not there`;
  try {
    const written = await blobs.put(key, body);
    if (written.sizeBytes === sizeBytes && written.sha256 === sha256) return undefined;
    await blobs.delete(key);
    return `the object ${key} is not what was written`;
  } catch (error) {
    if (!(error instanceof BlobExistsError)) throw error;
    if ((await hashOf(blobs, key)) === sha256) return undefined;
    throw new BackupError(`the store holds another object as ${key}`);
  }
}

async function hashOf(blobs: BlobStore, key: string): Promise<string> {
  await using reader = await blobs.open(key);
  const hash = createHash("sha256");
  for await (const piece of reader.stream()) hash.update(piece);
  return hash.digest("hex");
}

async function restoreNotes(place: Place, blobs: BlobStore): Promise<void> {
  for await (const { key, base64 } of linesOf<NoteLine>(place, "notes"))
    await blobs.putNote(key, Buffer.from(base64, "base64"));
  place.write(`${place.record.notes} notes`);
}

/** Restores the admin key if the backup has one, so that it works as before. */
async function restoreAdminKey({ folder, record, name, dataDir }: Place): Promise<void> {
  const file = record.files.find((one) => one.name === `${name}/admin-key`);
  if (!file) return;
  const path = join(dataDir, "admin.key");
  await writeFile(path, await readVerified(folder, file), { mode: 0o600 });
  await chmod(path, 0o600);
}
