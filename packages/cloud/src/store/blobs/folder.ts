/**
 * Named files in a folder or a bucket, for backups. A name has one to three parts with slashes between them; that of a text may
 * have an extension, too.
 */
export interface Folder extends Disposable {
  /** For operators. */
  readonly address: string;
  /** Writes a file: whole and durable once this returns, nothing is left when it throws. A file that had the name is replaced. */
  put(name: string, body: AsyncIterable<Uint8Array>): Promise<WrittenFile>;
  /** The same of a file on this machine, which takes no room where the file system can share it. Where a folder has it. */
  putCopy?(name: string, path: string): Promise<WrittenFile>;
  /** A short file, as {@link put}. */
  putText(name: string, text: string): Promise<void>;
  /** Undefined where there is none. */
  readText(name: string): Promise<string | undefined>;
  /** Undefined where there is none. */
  read(name: string): Promise<AsyncIterable<Uint8Array> | undefined>;
  /** The files whose names begin with a part and a slash, or all; in no order. */
  list(prefix: string): AsyncIterable<FolderFile>;
  /** Harmless where there is none. */
  remove(name: string): Promise<void>;
}

export interface FolderFile {
  readonly name: string;
  readonly sizeBytes: number;
}

export interface WrittenFile {
  readonly sizeBytes: number;
  /** The hash of the bytes as they were written. */
  readonly sha256: string;
}

const NAME = /^[a-z0-9_-]{1,64}(\/[a-z0-9_-]{1,64}){0,2}(\.json)?$/;

/** One of another shape is a fault of ours and throws a TypeError. */
export function checkName(name: string): void {
  if (!NAME.test(name)) throw new TypeError(`not the name of a file in a folder: ${JSON.stringify(name)}`);
}
