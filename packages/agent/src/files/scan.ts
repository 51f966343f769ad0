import { type Dirent, lstatSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename } from "node:path";
import { setImmediate } from "node:timers/promises";
import { type FileIdentity, identityOf } from "../inventory/identity.ts";
import { isOddName, systemPath, textOfName } from "./path-text.ts";

/** This directory is in the root and in the root of each file system mounted below. It is never scanned. */
export const TRASH_NAME = ".downlink-trash";

export interface ScanOptions {
  readonly root: string;
  /** `st_dev` of the root. */
  readonly rootDevice: bigint;
  /** Whether the agent keeps the file at a path relative to the root. */
  readonly matches: (path: string) => boolean;
  /** Whether a file is known with this identity and is left out of the result; it is asked once about each file. Without it no file is known. */
  readonly isKnown?: (path: string, identity: FileIdentity) => boolean;
  /** Whether a file is as if it were not there, because it is being written. By default none is. */
  readonly isBeingRecorded?: (path: string, identity: FileIdentity) => boolean;
  readonly signal: AbortSignal;
}

/** The result of one complete walk over the tree. Paths are relative to the root, with `/` between their parts; the root is `""`. */
export interface Scan {
  /** The files that were found and not known. */
  readonly files: ReadonlyMap<string, FileIdentity>;
  /** Directories that were listed to their end, each with its identity: another directory may take its path later. */
  readonly listed: ReadonlyMap<string, string>;
  /** Entries that exist and could not be examined. Known files at or below them stay as they are. */
  readonly unknown: ReadonlySet<string>;
  readonly unreadable: readonly { readonly path: string; readonly code: string }[];
}

/** How long a walk may occupy the process without a pause. Synchronous `lstat` in such slices takes 0.5 s for 100,000 files, asynchronous 3 s. */
const SLICE_MS = 8;

/**
 * Lists all directories and looks at all matching regular files; reads none, follows no symlink. Throws only when
 * aborted and for errors that no file system should give.
 */
export async function scanTree(options: ScanOptions): Promise<Scan> {
  const walk = new Walk(options);
  for (const path of walk.waiting) await walk.visit(path);
  return walk;
}

class Walk implements Scan {
  readonly files = new Map<string, FileIdentity>();
  readonly listed = new Map<string, string>();
  readonly unknown = new Set<string>();
  readonly unreadable: { path: string; code: string }[] = [];
  /** Directories still to list; the set grows during the walk. */
  readonly waiting = new Set<string>([""]);
  readonly #options: ScanOptions;
  #sliceEndMs = performance.now() + SLICE_MS;

  constructor(options: ScanOptions) {
    this.#options = options;
  }

  async visit(directory: string): Promise<void> {
    const { root, matches } = this.#options;
    try {
      const which = this.#identify(directory);
      const entries = await listEntries(systemPath(root, directory));
      // Directories are taken out one by one, so that the garbage collector gets them early.
      for (let entry = entries.pop(); entry; entry = entries.pop()) {
        const path = directory === "" ? entry.name : `${directory}/${entry.name}`;
        // A file system may leave the type open; then lstat decides.
        if (entry.isDirectory() && entry.name !== TRASH_NAME) this.waiting.add(path);
        else if (entry.isFile() ? matches(path) : isTypeless(entry)) this.#look(path);
        await this.#yieldInTime();
      }
      this.listed.set(directory, which);
    } catch (error) {
      this.#noteUnknown(directory, error);
    }
  }

  /** Inode numbers are reused, often at once; the time of birth distinguishes directories where the file system knows it. */
  #identify(directory: string): string {
    const { dev, ino, birthtimeNs } = lstatSync(systemPath(this.#options.root, directory), { bigint: true });
    return `${dev}:${ino}:${birthtimeNs}`;
  }

  #look(path: string): void {
    try {
      const stats = lstatSync(systemPath(this.#options.root, path), { bigint: true });
      if (stats.isDirectory() && basename(path) !== TRASH_NAME) this.waiting.add(path);
      else if (stats.isFile() && this.#options.matches(path)) {
        const identity = identityOf(stats, this.#options.rootDevice);
        if (this.#options.isBeingRecorded?.(path, identity)) return;
        if (!this.#options.isKnown?.(path, identity)) this.files.set(path, identity);
      }
    } catch (error) {
      this.#noteUnknown(path, error);
    }
  }

  /** With ENOENT, the entry went during the walk; the next scan decides. */
  #noteUnknown(path: string, error: unknown): void {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === undefined || this.#options.signal.aborted) throw error;
    this.unknown.add(path);
    if (code !== "ENOENT") this.unreadable.push({ path, code });
  }

  async #yieldInTime(): Promise<void> {
    if (performance.now() < this.#sliceEndMs) return;
    await setImmediate();
    this.#options.signal.throwIfAborted();
    this.#sliceEndMs = performance.now() + SLICE_MS;
  }
}

/** Lists names as text. It asks for bytes only where a name needs them. */
async function listEntries(directory: string | Buffer): Promise<Dirent[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  if (!entries.some(({ name }) => isOddName(name))) return entries;
  const inBytes = await readdir(directory, { withFileTypes: true, encoding: "buffer" });
  return inBytes.map((entry) => Object.assign(entry, { name: textOfName(entry.name) }) as unknown as Dirent);
}

function isTypeless(entry: {
  isSymbolicLink(): boolean;
  isFIFO(): boolean;
  isSocket(): boolean;
  isBlockDevice(): boolean;
  isCharacterDevice(): boolean;
}): boolean {
  return !(
    entry.isSymbolicLink() ||
    entry.isFIFO() ||
    entry.isSocket() ||
    entry.isBlockDevice() ||
    entry.isCharacterDevice()
  );
}
