/**
 * The facts that distinguish a file from a later one of the same name: a folder numbers its files, and a bucket has a tag of their content.
 */
export interface FileFacts {
  readonly sizeBytes: number;
  readonly modifiedAtMs: number;
  readonly inode?: number | undefined;
  readonly etag?: string | undefined;
}

export interface InboxFile extends FileFacts {
  /** The path below the inbox, with slashes. */
  readonly path: string;
  /** The bucket's own name of these bytes. */
  readonly versionId?: string | undefined;
}

/** A file that ends, and the request by which a killed process finds it again. */
export interface EndingFile extends InboxFile {
  readonly requestId: string;
}

/** Where the files of an inbox are. */
export interface InboxPlace {
  /** Lists at most so many files, whatever else there is. */
  list(most: number): Promise<InboxFile[]>;
  /** Returns the file as it is known exactly; undefined if it is gone, or another one has its name by now. */
  confirm(file: InboxFile): Promise<InboxFile | undefined>;
  /** Yields the bytes of exactly this file. */
  read(file: InboxFile): AsyncIterable<Uint8Array>;
  /** Removes the file; another one that has its name by now stays. A repeat goes on where a killed process was. */
  remove(file: EndingFile): Promise<void>;
  /** Puts the file under `_quarantine/`, with the reason beside it. Nothing there is replaced. */
  quarantine(file: EndingFile, reason: string): Promise<void>;
}

export const QUARANTINE = "_quarantine";
/** Files in these folders are not for the inbox. */
const RESERVED = new Set([QUARANTINE, "lake", "_downlink"]);
/** Programs that copy write into such names first, and rename them at the end. */
const UNFINISHED = /^\.|~$|\.(part|partial|tmp|crdownload|filepart)$/i;

/** Says whether the name of a file or folder, at this path of the inbox, is one that others use. */
export function isTaken(path: string): boolean {
  return RESERVED.has(path) || UNFINISHED.test(path.slice(path.lastIndexOf("/") + 1));
}

export function isSameFile(one: FileFacts, other: FileFacts | undefined): boolean {
  const { sizeBytes, modifiedAtMs, inode, etag } = one;
  return (
    other !== undefined &&
    sizeBytes === other.sizeBytes &&
    modifiedAtMs === other.modifiedAtMs &&
    inode === other.inode &&
    etag === other.etag
  );
}
