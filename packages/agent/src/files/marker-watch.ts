import { unwatchFile, watchFile } from "node:fs";
import { join } from "node:path";
import { MARKER_NAME } from "./root-marker.ts";

/** Tells when the marker in the root becomes another one or goes: a card was taken out, or another put in. */
export interface MarkerWatch extends Disposable {
  /** Only while the root is there; whoever waits for it looks by himself. */
  follow(isThere: boolean): void;
}

/** How late it may be told. A look is one call of the system, made by none of the agent's own threads. */
const LOOK_EVERY_MS = 1000;

/**
 * By looking, not by notification: a file system that is mounted on top makes none, and chokidar's looks take a marker for the
 * same whose time is older.
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
