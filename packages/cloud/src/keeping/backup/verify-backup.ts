// A backup is verified by reading all of it, as a restore would: its own files, the database as Postgres described it, and each of its objects.
// Nothing is written, and no deployment is needed.

import type { Folder } from "../../store/blobs/folder.ts";
import { groupItems } from "../integrity/group-items.ts";
import { DamagedBackupError } from "./backup-errors.ts";
import { type BackupFile, type FoundBackup, OBJECTS, requireFile } from "./backup-record.ts";
import type { ObjectLine } from "./lines.ts";
import { runInTurns } from "./run-in-turns.ts";
import { compareDatabase } from "./unpack-database.ts";
import { openFile, readVerified, readVerifiedLines, verifyPieces } from "./verify-file.ts";

const OBJECTS_PER_TURN = 200;

interface Verifying extends FoundBackup {
  readonly folder: Folder;
}

/** Yields a sentence for each part that is damaged. */
export async function* findDamages(verifying: Verifying): AsyncGenerator<string, void> {
  const { folder, name, record } = verifying;
  if (record.database) yield* damageOf(() => verifyDatabase(verifying));
  for (const file of record.files) {
    if (file.name === `${name}/database`) continue;
    const damages = await Array.fromAsync(damageOf(() => readVerified(folder, file)));
    yield* damages;
    if (damages.length === 0 && file.name.startsWith(`${name}/objects-`)) yield* findDamagedObjects(folder, file);
  }
}

/** Yields what is damaged if the work meets damage. */
async function* damageOf(work: () => Promise<unknown>): AsyncGenerator<string, void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof DamagedBackupError)) throw error;
    yield error.what;
  }
}

async function verifyDatabase({ folder, name, record }: Verifying): Promise<void> {
  const file = requireFile(record, `${name}/database`);
  const manifest = await readVerified(folder, requireFile(record, `${name}/database-manifest`));
  const archive = verifyPieces(await openFile(folder, file), file);
  await compareDatabase({ archive, manifest });
  for await (const _ of archive); // what follows the last file is compared, too
}

async function* findDamagedObjects(folder: Folder, list: BackupFile): AsyncGenerator<string, void> {
  for await (const lines of groupItems(readVerifiedLines<ObjectLine>(folder, list), OBJECTS_PER_TURN)) {
    const damages = await runInTurns(lines, (line) => Array.fromAsync(damageOf(() => readObject(folder, line))));
    yield* damages.flat();
  }
}

async function readObject(folder: Folder, { key, ...facts }: ObjectLine): Promise<void> {
  const file = { name: OBJECTS + key, ...facts };
  for await (const _ of verifyPieces(await openFile(folder, file), file)); // its end compares the SHA-256
}
