import { type FSWatcher, watch } from "node:fs";
import { isFileSystemError } from "../indexing/examine-file.ts";

export interface WatchOptions {
  readonly root: string;
  /** Something was made, removed or renamed somewhere below the root. Only a hint; the scan finds out what. */
  readonly onHint: () => void;
  /** Notifications are incomplete from now on; hints may be missing. */
  readonly onDegraded: (message: string) => void;
}

export interface DirectoryWatch extends Disposable {
  /** Watches these directories, paths below the root, and no others. Gives a hint where one is new: it may have changed since it was found. */
  follow(directories: ReadonlySet<string>): void;
}

/** One notification each for directories, none for files: what a scan has listed is all there is to watch. */
export function createDirectoryWatch(options: WatchOptions): DirectoryWatch {
  const watched = new WatchedDirectories(options);
  return { follow: (directories) => watched.follow(directories), [Symbol.dispose]: () => watched.follow(new Set()) };
}

/** Directories that went, or that we may not read: the scan says so. */
const ABSENCES = ["ENOENT", "ENOTDIR", "EACCES", "EPERM", "ELOOP"];

class WatchedDirectories {
  readonly #options: WatchOptions;
  readonly #watchers = new Map<string, FSWatcher>();
  #isDegraded = false;

  constructor(options: WatchOptions) {
    this.#options = options;
  }

  follow(directories: ReadonlySet<string>): void {
    for (const directory of this.#watchers.keys()) if (!directories.has(directory)) this.#close(directory);
    const before = this.#watchers.size;
    for (const directory of directories) this.#open(directory);
    if (this.#watchers.size > before) this.#options.onHint();
  }

  #open(directory: string): void {
    if (this.#watchers.has(directory) || this.#isDegraded) return;
    try {
      const watcher = watch(`${this.#options.root}/${directory}`, (event, name) => {
        if (event === "rename") this.#renamed(directory, name);
      });
      this.#watchers.set(
        directory,
        watcher.on("error", (error) => this.#degrade(error)),
      );
    } catch (error) {
      if (!isFileSystemError(error)) throw error;
      if (!ABSENCES.includes(error.code ?? "")) this.#degrade(error);
    }
  }

  /** A directory that went, or is another one now, is no longer what is watched under its path. */
  #renamed(directory: string, name: string | null): void {
    const path = directory === "" ? name : `${directory}/${name}`;
    if (path !== null && this.#watchers.has(path)) this.#closeBelow(path);
    this.#options.onHint();
  }

  #closeBelow(path: string): void {
    const isBelow = (known: string) => known === path || known.startsWith(`${path}/`);
    for (const known of this.#watchers.keys()) if (isBelow(known)) this.#close(known);
  }

  #close(directory: string): void {
    this.#watchers.get(directory)?.close();
    this.#watchers.delete(directory);
  }

  #degrade(error: Error): void {
    if (!this.#isDegraded) this.#options.onDegraded(error.message);
    this.#isDegraded = true;
  }
}
