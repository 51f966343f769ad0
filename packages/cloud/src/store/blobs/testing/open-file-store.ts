import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLinkSigner, type LinkSigner } from "../../../core/signed-link.ts";
import { createRunningClock } from "../../../testing/test-clock.ts";
import { type FileStore, type FileStoreOptions, openFileStore } from "../file-store.ts";
import { serveParts } from "./serve-parts.ts";

export const testSigner: LinkSigner = createLinkSigner(["the signing key of the tests alone"]);
export const testClock = createRunningClock();

/**
 * The store lies in memory if there is such a file system: syncing a disk is slow, and proves nothing to a test whose machine goes on
 * running.
 */
const testRoot = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

export interface ServedFileStore extends AsyncDisposable {
  readonly store: FileStore;
  readonly directory: string;
  readonly partSizeBytes: number;
}

/**
 * Serves a file store in a new directory, or in a given one that is then kept, with its part route on a free port. `onReceive` is called
 * with each part as it begins to arrive.
 */
export async function serveFileStore(
  options: Partial<FileStoreOptions> = {},
  onReceive: (receiving: Promise<void>) => void = () => {},
): Promise<ServedFileStore> {
  await using stack = new AsyncDisposableStack();
  const directory = options.directory ?? (await mkdtemp(join(testRoot, "file-store-")));
  if (!options.directory) stack.defer(() => rm(directory, { recursive: true }));
  let url = "";
  const defaults = { directory, signer: testSigner, clock: testClock, publicUrl: () => url };
  const store = await openFileStore({ ...defaults, ...options });
  const receivePart: FileStore["receivePart"] = (key, part, body) => {
    const receiving = store.receivePart(key, part, body);
    onReceive(receiving);
    return receiving;
  };
  const blobs = { receivePart, receivePiece: store.receivePiece };
  const served = stack.use(await serveParts({ ...defaults, ...options, blobs }));
  url = served.url;
  const opened = stack.move();
  return { store, directory, partSizeBytes: 64 * 1024, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}
