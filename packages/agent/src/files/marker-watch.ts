import { unwatchFile, watchFile } from "node:fs";
import { join } from "node:path";
import { MARKER_NAME } from "./root-marker.ts";

/** Notices that the marker in the root changed or went: a card was taken out, or another one was put in. */
export interface MarkerWatch extends Disposable {
  /** Watches only while the root is there: while it is missing, the scans look for it. */
  follow(isThere: boolean): void;
}

/** How late a change may be noticed. Each look is one system call outside of the main thread. */
const LOOK_EVERY_MS = 1000;

/**
 * It looks at intervals, because a file system that is mounted on top causes no notification. Chokidar does not help: it takes a
 * marker with an older time for unchanged.
 */
export function createMarkerWatch(root: string, onChange: () => void): MarkerWatch {
  const path = join(root, MARKER_NAME);
  let isFollowed = false;
  const follow = (isThere: boolean) => {
    if (isThere === isFollowed) return;
    isFollowed = isThere;
    if (isThere) watchFile(path, { interval: LOOK_EVERY_MS, persistent: false }, onChange);
    else unwatchFile(path, onChange);
  };
  return { follow, [Symbol.dispose]: () => follow(false) };
}
