import { readFile } from "node:fs/promises";
import { BackupError } from "./backup-errors.ts";
import { type BackupKey, toKey } from "./encrypted-stream.ts";

/** Reads the operator's key. Returns undefined if there is no file; throws if the file cannot be read or holds no key. */
export async function readKey(file: string | undefined): Promise<BackupKey | undefined> {
  if (file === undefined) return undefined;
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new BackupError(`DOWNLINK_BACKUP_KEY_FILE: ${file} cannot be read (${error.code})`);
  });
  const bytes = Buffer.from(text.trim(), "base64");
  const key = bytes.toString("base64") === text.trim() ? toKey(bytes) : undefined;
  if (key) return key;
  throw new BackupError(
    `DOWNLINK_BACKUP_KEY_FILE: ${file} has to hold 32 bytes in base64, as openssl rand -base64 32 makes them`,
  );
}
