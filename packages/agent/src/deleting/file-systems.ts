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
  /** Another number after each time that it may have been away. */
  readonly mount: number;
}

/** What was found out by trying about the file systems under the root. */
export interface FileSystems extends Disposable {
  /** Tries it where the last try is a minute ago, or the file system may have been away since. Takes up to three seconds. */
  look(storage: Storage, file: TrackedFile): Promise<FileSystemFacts>;
  /** As found last; undefined where nobody looked in the last five minutes, or it may have been away since. */
  known(file: Pick<TrackedFile, "identity">): FileSystemFacts | undefined;
  /** Another card is in: nothing that was found out is about it, also where its device has the same number. */
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
  /** Watched before anything is tried, so that nothing comes and goes unheard of. */
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
    if (byDevice.get(device) !== known) return { ...known, showsChanges: false }; // It went meanwhile.
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

/** Until it was tried. */
const untried = { showsChanges: false, probedMs: Number.NEGATIVE_INFINITY } as const;

/** Undefined where the folder of the file is gone, or its disk: a scan will tell. */
async function findIfThere({ root }: Storage, file: TrackedFile): Promise<string | undefined> {
  try {
    return (await findTrash(root, file)).directory;
  } catch (error) {
    if (!isFileSystemError(error)) throw error;
    return undefined;
  }
}

/** What differs after most mounts; undefined where there is no trash and none can be made. */
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

/** The numbers of mounts are given again, so that they alone would not tell. */
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

/** The kernel tells of a directory's end, by unmounting too, under the directory's own name. A watch holds up no unmounting. */
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
