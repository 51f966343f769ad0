import { type FSWatcher, watch } from "node:fs";
import { isFileSystemError } from "../system/system-error.ts";
import { systemPath } from "./path-text.ts";

export interface WatchOptions {
  readonly root: string;
  /** Is called when something was made, removed or renamed below the root. It is only a hint; the scan finds out what. */
  readonly onHint: () => void;
  /** Is called when notifications become incomplete: from then on hints may be missing. */
  readonly onDegraded: (message: string) => void;
  /** Is called when every directory is watched. */
  readonly onComplete: () => void;
}

export interface DirectoryWatch extends Disposable {
  /**
   * Watches these directories and no others, by paths relative to the root and their identities. A new directory gives a hint,
   * because it may have changed since it was found. A watch that the system refused is tried again.
   */
  follow(directories: ReadonlyMap<string, string>): void;
}

/**
 * Watches the directories that a scan has listed, and no single files. Scans find the truth and notifications are only hints,
 * because whatever notifications miss, the scan finds. We use `fs.watch` and not chokidar, because chokidar walks the tree once
 * more by itself and takes 60 MB for 100,000 files.
 */
export function createDirectoryWatch(options: WatchOptions): DirectoryWatch {
  const watched = new WatchedDirectories(options);
  return { follow: (directories) => watched.follow(directories), [Symbol.dispose]: () => watched.follow(new Map()) };
}

/** Codes for directories that went or that we may not read: the scan notices these itself. */
const absenceCodes = ["ENOENT", "ENOTDIR", "EACCES", "EPERM", "ELOOP"];

class WatchedDirectories {
  readonly #options: WatchOptions;
  readonly #watchers = new Map<string, { readonly which: string; readonly watcher: FSWatcher }>();

  constructor(options: WatchOptions) {
    this.#options = options;
  }

  follow(directories: ReadonlyMap<string, string>): void {
    // The system notifies that another directory took the place of a watched one, but its queue may overflow.
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
      this.#options.onDegraded(error.message); // The system would refuse the next one too.
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

  /** Ends the watch of a directory that went or was replaced. */
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
