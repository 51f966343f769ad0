import type { Folder } from "../../store/blobs/folder.ts";
import { BackupError, DamagedBackupError } from "./backup-errors.ts";
import { findBackup } from "./backup-record.ts";
import { findDamages } from "./verify-backup.ts";

const exits = { whole: 0, damaged: 1, couldNotLook: 2 };

interface Verifying {
  /** Opens the place. */
  readonly open: () => Promise<Folder>;
  /** The name of the backup; undefined: the newest complete one. */
  readonly backup: string | undefined;
  readonly write: (line: string) => void;
}

/** Verifies a backup and prints what is damaged. The exit code is 0, 1 (damaged) or 2 (it could not look). */
export async function verifyAndPrint({ open, backup, write }: Verifying): Promise<void> {
  process.exitCode = exits.couldNotLook; // this holds unless the work comes to its end
  try {
    using folder = await open();
    const found = await findBackup(folder, backup);
    let damages = 0;
    for await (const damage of findDamages({ folder, ...found })) {
      damages += 1;
      write(`DAMAGED: ${damage}`);
    }
    const { files, objects } = found.record;
    const whole = `${files.length} files and ${objects.count} objects of ${objects.bytes} bytes are what was written`;
    write(`the backup ${found.name} in ${folder.address}: ${damages === 0 ? whole : `${damages} parts are damaged`}`);
    process.exitCode = damages === 0 ? exits.whole : exits.damaged;
  } catch (error) {
    if (error instanceof DamagedBackupError) {
      write(`DAMAGED: ${error.what}`);
      process.exitCode = exits.damaged;
      return;
    }
    if (!isOfPlace(error)) throw error;
    throw new BackupError(`the place of the backup cannot be read: ${error.message}`, { cause: error });
  }
}

/** Says whether a file system, a network or a bucket refused; their errors have a code, or what S3 answered. */
function isOfPlace(error: unknown): error is Error {
  return error instanceof Error && ("code" in error || "$metadata" in error);
}
