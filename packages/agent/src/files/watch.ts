import { type FSWatcher, watch } from "node:fs";
import { isFileSystemError } from "../system/system-error.ts";
import { systemPath } from "./path-text.ts";

export interface WatchOptions {
  readonly root: string;
  /** Something was made, removed or renamed somewhere below the root. Only a hint; the scan finds out what. */
  readonly onHint: () => void;
  /** Notifications are incomplete from now on; hints may be missing. */
  readonly onDegraded: (message: string) => void;
  /** Every directory that there is to watch is watched. */
  readonly onComplete: () => void;
}

export interface DirectoryWatch extends Disposable {
  /**
   * Watches these directories and no others: paths below the root, each with what tells it from another one at its path.
   * Gives a hint where one is new: it may have changed since it was found. What the system did not allow is tried again.
   */
  follow(directories: ReadonlyMap<string, string>): void;
}

/** One notification each for directories, none for files: what a scan has listed is all there is to watch. */
export function createDirectoryWatch(options: WatchOptions): DirectoryWatch {
  const watched = new WatchedDirectories(options);
  return { follow: (directories) => watched.follow(directories), [Symbol.dispose]: () => watched.follow(new Map()) };
}

/** Directories that went, or that we may not read: the scan says so. */
const absenceCodes = ["ENOENT", "ENOTDIR", "EACCES", "EPERM", "ELOOP"];

class WatchedDirectories {
  readonly #options: WatchOptions;
  readonly #watchers = new Map<string, { readonly which: string; readonly watcher: FSWatcher }>();

  constructor(options: WatchOptions) {
    this.#options = options;
  }

  follow(directories: ReadonlyMap<string, string>): void {
    // That another directory took a watched one's place is told by the system, and the queue in which it tells may overflow.
    for (const [path, { which }] of this.#watchers) if (directories.get(path) !== which) this.#close(path);
    const before = this.#watchers.size;
    this.#openAll(directories);
    if (this.#watchers.size > before) this.#options.onHint();
  }

  #openAll(directories: ReadonlyMap<string, string>): void {
    try {
      for (const [path, which] of directories) if (!this.#watchers.has(path)) this.#open(path, which);
      if (directories.size > 0) this.#options.onComplete();
    } catch (error) {
      if (!isFileSystemError(error)) throw error;
      this.#options.onDegraded(error.message); // The next one would not be allowed either.
    }
  }

  #open(directory: string, which: string): void {
    try {
      const watcher = watch(systemPath(this.#options.root, directory), (event, name) => {
        if (event === "rename") this.#renamed(directory, name);
      });
      watcher.on("error", (error) => {
        this.#close(directory);
        this.#options.onDegraded(error.message);
      });
      this.#watchers.set(directory, { which, watcher });
    } catch (error) {
      if (!isFileSystemError(error) || !absenceCodes.includes(error.code ?? "")) throw error;
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
    this.#watchers.get(directory)?.watcher.close();
    this.#watchers.delete(directory);
  }
}
