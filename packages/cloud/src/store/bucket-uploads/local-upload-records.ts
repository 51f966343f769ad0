// SQLite runs in this process and has one connection, so nothing comes between the statements of one method: they need no lock. Each change is
// on the disk before its method resolves, because the bucket is sent bytes only after it is recorded what their number stands for.

import type { DatabaseSync, SQLOutputValue } from "node:sqlite";
import type { Logger } from "pino";
import { StorageFullError, UploadClosedError } from "../blobs/blob-errors.ts";
import type { PartPlan } from "../blobs/blob-store.ts";
import type { OpenUpload, StoredPiece, UploadRecords } from "../blobs/buckets/upload-records.ts";
import { openRecordsFile } from "./records-file.ts";

type Row = Record<string, SQLOutputValue>;

const SQLITE_FULL = 13;

/** Opens the records of a process that shares its bucket with no other one, in a database in its folder. */
export function openLocalRecords(dir: string, log: Pick<Logger, "warn">): LocalUploadRecords {
  return new LocalUploadRecords(openRecordsFile(dir, log));
}

export class LocalUploadRecords implements UploadRecords, Disposable {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /**
   * Forgets all uploads unless this database is the one that was used at the store's last start: another one is older than the bucket, and would
   * take what was stored since for something else. `marks` names the store's starts, this one's the last. Returns how many it forgot.
   */
  follow(marks: readonly string[]): number {
    return this.#together(() => {
      const known = this.#get("SELECT mark FROM starts");
      const forgotten = known?.mark === marks.at(-2) ? 0 : this.#run("DELETE FROM uploads");
      this.#run("DELETE FROM starts");
      this.#run("INSERT INTO starts (mark) VALUES (?)", marks.at(-1)!);
      return forgotten;
    });
  }

  async find(key: string): Promise<OpenUpload | undefined> {
    return this.#findUpload(key);
  }

  async open({ key, uploadId, plan }: OpenUpload): Promise<OpenUpload> {
    const values = [uploadId, key, plan.sizeBytes, plan.partSizeBytes];
    this.#run("INSERT INTO uploads VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING", ...values);
    const open = this.#findUpload(key);
    if (!open) throw new UploadClosedError(key);
    return open;
  }

  async close(key: string, uploadId?: string): Promise<void> {
    if (uploadId === undefined) this.#run("DELETE FROM uploads WHERE key = ?", key);
    else this.#run("DELETE FROM uploads WHERE key = ? AND upload_id = ?", key, uploadId);
  }

  async listTaken({ uploadId }: OpenUpload, numbers?: readonly number[]): Promise<PartPlan[]> {
    if (!numbers) return this.#all("SELECT * FROM parts WHERE upload_id = ?", uploadId).map(toPart);
    const some = "SELECT * FROM parts WHERE upload_id = ? AND number IN (SELECT value FROM json_each(?))";
    return this.#all(some, uploadId, JSON.stringify(numbers)).map(toPart);
  }

  async findTaken({ uploadId }: OpenUpload, number: number): Promise<PartPlan | undefined> {
    return this.#findPart(uploadId, number);
  }

  async take({ key, uploadId }: OpenUpload, { number, digest, lengthBytes }: PartPlan): Promise<PartPlan> {
    return this.#together(() => {
      this.#requireOpen(key, uploadId);
      this.#run("INSERT INTO parts VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING", uploadId, number, digest, lengthBytes);
      return this.#findPart(uploadId, number)!;
    });
  }

  async listPieces({ uploadId }: OpenUpload, partNumber?: number): Promise<StoredPiece[]> {
    return this.#findPieces(uploadId, partNumber);
  }

  async hold(
    { key, uploadId }: OpenUpload,
    piece: StoredPiece,
    decide: (held: readonly StoredPiece[]) => boolean,
  ): Promise<boolean> {
    return this.#together(() => {
      this.#requireOpen(key, uploadId);
      if (!decide(this.#findPieces(uploadId))) return false;
      const { partNumber, offset, lengthBytes, digest, name } = piece;
      const values = [uploadId, partNumber, offset, lengthBytes, digest, name];
      this.#run("INSERT INTO pieces VALUES (?, ?, ?, ?, ?, ?)", ...values);
      return true;
    });
  }

  async forgetPieces({ uploadId }: OpenUpload, partNumber: number): Promise<void> {
    this.#run("DELETE FROM pieces WHERE upload_id = ? AND part_number = ?", uploadId, partNumber);
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }

  #findUpload(key: string): OpenUpload | undefined {
    const row = this.#get("SELECT * FROM uploads WHERE key = ?", key);
    return row && toUpload(row);
  }

  #findPart(uploadId: string, number: number): PartPlan | undefined {
    const row = this.#get("SELECT * FROM parts WHERE upload_id = ? AND number = ?", uploadId, number);
    return row && toPart(row);
  }

  #findPieces(uploadId: string, partNumber?: number): StoredPiece[] {
    const all = `SELECT * FROM pieces WHERE upload_id = ?${partNumber === undefined ? "" : " AND part_number = ?"}`;
    const values = partNumber === undefined ? [uploadId] : [uploadId, partNumber];
    return this.#all(`${all} ORDER BY part_number, offset`, ...values).map(toPiece);
  }

  #requireOpen(key: string, uploadId: string): void {
    if (!this.#get("SELECT 1 FROM uploads WHERE upload_id = ?", uploadId)) throw new UploadClosedError(key);
  }

  /** Returns how many rows were changed. */
  #run(sql: string, ...values: readonly (string | number)[]): number {
    return mapFullDisk(() => Number(this.#database.prepare(sql).run(...values).changes));
  }

  #get(sql: string, ...values: readonly (string | number)[]): Row | undefined {
    return mapFullDisk(() => this.#database.prepare(sql).get(...values));
  }

  #all(sql: string, ...values: readonly (string | number)[]): Row[] {
    return mapFullDisk(() => this.#database.prepare(sql).all(...values));
  }

  /** Does all of it, or nothing. */
  #together<T>(act: () => T): T {
    return mapFullDisk(() => {
      this.#database.exec("BEGIN IMMEDIATE");
      try {
        const result = act();
        this.#database.exec("COMMIT");
        return result;
      } catch (error) {
        if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
        throw error;
      }
    });
  }
}

/** A full disk is a full store. */
function mapFullDisk<T>(act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw (error as { errcode?: number }).errcode === SQLITE_FULL ? new StorageFullError(error) : error;
  }
}

function toUpload({ key, upload_id, size_bytes, part_size_bytes }: Row): OpenUpload {
  const plan = { sizeBytes: Number(size_bytes), partSizeBytes: Number(part_size_bytes) };
  return { key: String(key), uploadId: String(upload_id), plan };
}

function toPart({ number, digest, length_bytes }: Row): PartPlan {
  return { number: Number(number), digest: String(digest), lengthBytes: Number(length_bytes) };
}

function toPiece({ part_number, offset, length_bytes, digest, name }: Row): StoredPiece {
  return {
    ...{ partNumber: Number(part_number), offset: Number(offset), lengthBytes: Number(length_bytes) },
    ...{ digest: String(digest), name: String(name) },
  };
}
