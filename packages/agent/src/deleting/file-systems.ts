import { type FSWatcher, watch } from "node:fs";
import { lstat, readFile } from "node:fs/promises";
import { basename } from "node:path";
import type { Storage } from "../files/open-tracked.ts";
import type { FileNumber } from "../inventory/identity.ts";
import type { TrackedFile } from "../inventory/tracked-file.ts";
import { createTurns } from "../loops/turns.ts";
import type { Clock } from "../system/clock.ts";
import { isFileSystemError } from "../system/system-error.ts";
import { probeChanges } from "./change-probe.ts";
import { findTrash, makeTrash } from "./trash.ts";

export interface FileSystemFacts {
  /** Whether a change that leaves size and mtime of a file alone shows in its ctime. */
  readonly showsChanges: boolean;
  /** This number changes each time that the file system may have been away. */
  readonly mount: number;
}

/** The facts that the agent found out about the file systems under the root by trying. */
export interface FileSystems extends Disposable {
  /** Tries again where the last try is a minute ago, or the file system may have been away since. It takes up to three seconds. */
  look(storage: Storage, file: TrackedFile): Promise<FileSystemFacts>;
  /** The facts of the last look; undefined where it is five minutes ago, or the file system may have been away since. */
  known(file: Pick<TrackedFile, "identity">): FileSystemFacts | undefined;
  /** Forgets all facts, because another card is in: they do not hold for it, even where its device has the same number. */
  forget(): void;
}

interface Known extends FileSystemFacts {
  readonly seal: string | undefined;
  readonly probedMs: number;
  readonly watcher: FSWatcher | undefined;
}

const TRY_AGAIN_MS = 60_000;
const HOLDS_MS = 300_000;

export function createFileSystems(clock: Clock): FileSystems {
  const byDevice = new Map<FileNumber, Known>();
  const turns = createTurns();
  const ageMs = ({ probedMs }: Known) => clock.uptimeMs() - probedMs;
  let mounts = 0;
  const forget = (device: FileNumber) => {
    byDevice.get(device)?.watcher?.close();
    byDevice.delete(device);
  };
  const forgetAll = () => {
    for (const device of [...byDevice.keys()]) forget(device);
  };
  /** The watch begins before the first try, so that no unmount is missed. */
  const meet = (device: FileNumber, trash: string, seal: string | undefined): Known => {
    forget(device);
    mounts += 1;
    const watcher = seal === undefined ? undefined : watchMount(trash, () => forget(device));
    const met = { ...untried, mount: mounts, seal, watcher };
    byDevice.set(device, met);
    return met;
  };
  const lookAt = async (device: FileNumber, trash: string): Promise<FileSystemFacts> => {
    const seal = await sealOf(trash);
    const last = byDevice.get(device);
    const isSame = last !== undefined && seal !== undefined && last.seal === seal;
    const known = isSame ? last : meet(device, trash, seal);
    if (ageMs(known) < TRY_AGAIN_MS) return known;
    const showsChanges = seal !== undefined && (await probeChanges(trash, clock));
    if (byDevice.get(device) !== known) return { ...known, showsChanges: false }; // The file system went away meanwhile.
    const found = { ...known, showsChanges, probedMs: clock.uptimeMs() };
    byDevice.set(device, found);
    return found;
  };
  return {
    async look(storage, file) {
      using _turn = await turns.take();
      const trash = await findIfThere(storage, file);
      if (trash !== undefined) return await lookAt(file.identity.device, trash);
      mounts += 1;
      return { showsChanges: false, mount: mounts };
    },
    known({ identity }) {
      const known = byDevice.get(identity.device);
      return known && ageMs(known) < HOLDS_MS ? known : undefined;
    },
    forget: forgetAll,
    [Symbol.dispose]: forgetAll,
  };
}

/** The facts before the first try. */
const untried = { showsChanges: false, probedMs: Number.NEGATIVE_INFINITY } as const;

/** Undefined where the folder of the file is gone, or its disk; a scan finds out which. */
async function findIfThere({ root }: Storage, file: TrackedFile): Promise<string | undefined> {
  try {
    return (await findTrash(root, file)).directory;
  } catch (error) {
    if (!isFileSystemError(error)) throw error;
    return undefined;
  }
}

/** Returns a text that differs after most mounts; undefined where there is no trash and none can be made. */
async function sealOf(trash: string): Promise<string | undefined> {
  try {
    await makeTrash(trash);
    const { dev, ino, birthtimeNs } = await lstat(trash, { bigint: true });
    return `${dev} ${ino} ${birthtimeNs} ${await mountLines(dev)}`;
  } catch (error) {
    if (!isFileSystemError(error)) throw error;
    return undefined;
  }
}

/** Returns the lines of the mounts. Their numbers alone are not enough, because the kernel reuses them, with the same device and inodes. */
async function mountLines(device: bigint): Promise<string> {
  const [major, minor] = [(device >> 8n) & 0xfffn, (device & 0xffn) | ((device >> 12n) & 0xfff00n)];
  const name = `${major}:${minor}`;
  const mounts = await readFile("/proc/self/mountinfo", "utf8").catch(noneWithoutProc);
  return mounts
    .split("\n")
    .filter((line) => line.split(" ")[2] === name)
    .join("\n");
}

function noneWithoutProc(error: unknown): string {
  if (!isFileSystemError(error)) throw error;
  return "";
}

/** The kernel notifies of a directory's end, also by unmounting, under the directory's own name. A watch does not keep anybody from unmounting. */
function watchMount(trash: string, onGone: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(trash, { persistent: false }, (_, name) => {
      if (name === null || name === basename(trash)) onGone();
    });
    return watcher.on("error", onGone);
  } catch (error) {
    if (!isFileSystemError(error)) throw error;
    return undefined;
  }
}
