import { type ChokidarOptions, type FSWatcher, watch } from "chokidar";

export interface WatchOptions {
  readonly root: string;
  /** Something was made, removed or renamed somewhere below the root. Only a hint; the scan finds out what. */
  readonly onHint: () => void;
  /** Notifications are incomplete from now on; hints may be missing. */
  readonly onDegraded: (message: string) => void;
}

export interface DirectoryWatch extends AsyncDisposable {
  /** Watches while the root is there; a root that comes back is another one to the system. */
  follow(isPresent: boolean): Promise<void>;
}

const chokidarOptions: ChokidarOptions = {
  ignoreInitial: true,
  followSymlinks: false,
  ignored: (_, stats) => stats !== undefined && !stats.isDirectory(),
};

/** Watches directories only: a watch for each file would cost 10 kB and an inotify watch apiece. */
export function createDirectoryWatch(options: WatchOptions): DirectoryWatch {
  let watcher: FSWatcher | undefined;
  const stop = async () => {
    const former = watcher;
    watcher = undefined;
    await former?.close();
  };
  return {
    async follow(isPresent) {
      if (isPresent) watcher ??= openWatcher(options);
      else await stop();
    },
    [Symbol.asyncDispose]: stop,
  };
}

function openWatcher({ root, onHint, onDegraded }: WatchOptions): FSWatcher {
  let isDegraded = false;
  return (
    watch(root, chokidarOptions)
      // chokidar's own events leave out what is ignored, which is all files; the raw ones are the system's.
      .on("raw", (event) => {
        if (event === "rename") onHint();
      })
      .on("error", (error) => {
        if (!isDegraded) onDegraded(error instanceof Error ? error.message : String(error));
        isDegraded = true;
      })
  );
}
