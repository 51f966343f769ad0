// A file of the inbox is known by facts that do not change while no program writes it. Links are never followed, and a file is read only
// under the name that it has in its folder.

import { constants, type Dirent } from "node:fs";
import { link, lstat, mkdir, open, readdir, rename, rm, unlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Logger } from "pino";
import { isSystemError } from "../../store/blobs/durable-file.ts";
import {
  type EndingFile,
  type FileFacts,
  type InboxFile,
  type InboxPlace,
  isSameFile,
  isTaken,
  QUARANTINE,
} from "./inbox-place.ts";

/** Opens an inbox that is a folder. */
export function openInboxFolder(root: string, log: Pick<Logger, "warn">): InboxPlace {
  const onUnreadable = (folder: string, err: unknown) =>
    log.warn({ err, folder }, "a folder of the inbox cannot be read");
  return {
    list: (most) => listInbox(root, { most, onUnreadable }),
    confirm: async (file) => ((await isStill(root, file)) ? file : undefined),
    read: (file) => readInboxFile(root, file),
    remove: (file) => removeInboxFile(root, file),
    quarantine: (file, reason) => quarantine(root, file, reason),
  };
}

interface Listing {
  readonly most: number;
  /** Is called with each inner folder that cannot be read, such as the `lost+found` of a disk: it holds up no other one. */
  onUnreadable(folder: string, error: unknown): void;
  readonly read?: (folder: string) => Promise<Dirent[]>;
}

const readEntries = (folder: string) => readdir(folder, { withFileTypes: true });

/** Lists at most so many files, whatever else the folder has. Throws if the inbox itself cannot be read. */
export async function listInbox(
  root: string,
  { most, onUnreadable, read = readEntries }: Listing,
): Promise<InboxFile[]> {
  const found: InboxFile[] = [];
  const folders = [""];
  for (let folder = folders.pop(); folder !== undefined && found.length < most; folder = folders.pop()) {
    try {
      const { files, inner } = await sortEntries(root, folder, await read(join(root, folder)));
      found.push(...files.slice(0, most - found.length));
      folders.push(...inner);
    } catch (error) {
      if (folder === "") throw error;
      onUnreadable(folder, error);
    }
  }
  return found;
}

async function sortEntries(
  root: string,
  folder: string,
  entries: readonly Dirent[],
): Promise<{ files: InboxFile[]; inner: string[] }> {
  const files: InboxFile[] = [];
  const inner: string[] = [];
  for (const entry of entries) {
    const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
    if (isTaken(path)) continue;
    if (entry.isDirectory()) inner.push(path);
    const facts = entry.isFile() ? await factsOf(join(root, path)) : undefined;
    if (facts) files.push({ path, ...facts });
  }
  return { files, inner };
}

async function factsOf(file: string): Promise<FileFacts | undefined> {
  try {
    const stats = await lstat(file);
    return stats.isFile() ? { sizeBytes: stats.size, modifiedAtMs: stats.mtimeMs, inode: stats.ino } : undefined;
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return undefined; // gone meanwhile, or its name is no text
    throw error;
  }
}

/** Says whether the file is still the one that was found. */
async function isStill(root: string, { path, ...facts }: InboxFile): Promise<boolean> {
  return isSameFile(facts, await factsOf(join(root, path)));
}

/** Yields the bytes of the file itself, and not of one that a link leads to. */
async function* readInboxFile(root: string, { path }: InboxFile): AsyncGenerator<Uint8Array> {
  await using file = await open(join(root, path), constants.O_RDONLY | constants.O_NOFOLLOW);
  for await (const piece of file.createReadStream({ highWaterMark: 1024 * 1024 })) yield piece as Uint8Array;
}

/** Removes the file, unless another one has its name by now: that stays. A repeat goes on where a killed process was. */
async function removeInboxFile(root: string, file: EndingFile): Promise<void> {
  const leaving = await leave(root, file);
  if (leaving !== undefined) await rm(leaving, { force: true });
}

/** Puts the file under `_quarantine/`, with the reason beside it. Nothing there is replaced. */
async function quarantine(root: string, file: EndingFile, reason: string): Promise<void> {
  const leaving = await leave(root, file);
  if (leaving === undefined) return;
  const target = join(root, QUARANTINE, file.path);
  await mkdir(dirname(target), { recursive: true });
  const name = await linkBeside(leaving, target);
  await writeFile(`${name}.reason.txt`, `${reason}\n`);
  await unlink(leaving);
}

/** Returns the name that it has got. */
async function linkBeside(file: string, target: string): Promise<string> {
  for (let copy = 1; ; copy++) {
    const name = copy === 1 ? target : `${target}.${copy}`;
    try {
      await link(file, name);
      return name;
    } catch (error) {
      if (!isSystemError(error, "EEXIST")) throw error;
    }
  }
}

/** Gives the file a name of its own first, because another one may come under its name at any moment. Undefined if it is gone. */
async function leave(root: string, file: EndingFile): Promise<string | undefined> {
  const name = join(root, file.path);
  const leaving = join(root, QUARANTINE, `.${file.requestId}`);
  await mkdir(join(root, QUARANTINE), { recursive: true });
  if (!(await factsOf(leaving)) && (await isStill(root, file))) await rename(name, leaving);
  const facts = await factsOf(leaving);
  if (facts === undefined || isSameFile(file, facts)) return facts && leaving;
  await linkBeside(leaving, name); // it came at this very moment: it goes back
  await unlink(leaving);
  return undefined;
}
