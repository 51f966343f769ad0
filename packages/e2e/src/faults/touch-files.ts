import { execFile } from "node:child_process";
import { randomInt } from "node:crypto";
import { chmod, chown, link, mkdir, readdir, rename, rm, utimes } from "node:fs/promises";
import { basename, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

/** The agent's own folder, in which files lie only for moments. */
const TRASH = ".downlink-trash";
const MARKER = ".downlink-root";
const OUT_MS = 500;

/** Changes everything about all files but their content: mode, owner, links, times, and inode numbers. */
export async function touchFiles(root: string): Promise<void> {
  const touches = [touchMode, touchOwner, touchLinks, touchTime, touchInode];
  for (const path of await listFiles(root)) await touches[randomInt(touches.length)]!(path);
}

async function touchMode(path: string): Promise<void> {
  await chmod(path, 0o600 + randomInt(0o100));
}

async function touchOwner(path: string): Promise<void> {
  const mayGiveAway = process.getuid?.() === 0;
  await chown(path, mayGiveAway ? 1000 + randomInt(1000) : process.getuid!(), process.getgid!());
}

/** Makes a link under a name that is not one of a recording, and removes it. */
async function touchLinks(path: string): Promise<void> {
  await link(path, `${path}.kept`);
  await rm(`${path}.kept`);
}

async function touchTime(path: string): Promise<void> {
  const seconds = 1_700_000_000 + randomInt(50_000_000);
  await utimes(path, seconds, seconds);
}

async function touchInode(path: string): Promise<void> {
  await run("cp", ["-a", path, `${path}.copy`]);
  await rename(`${path}.copy`, path);
}

/** For a moment nothing is at the root's path. */
export async function takeOutCard(root: string): Promise<void> {
  await rename(root, `${root}.out`);
  await setTimeout(OUT_MS);
  await rename(`${root}.out`, root);
}

/**
 * Another root with the same files takes its place, as when a file system gives its files new numbers at each mount. Before the agent marked
 * its root nothing happens: a copy without the mark that was made meanwhile is another card for it, and rightly so.
 */
export async function copyCard(root: string): Promise<void> {
  const card = `${root}.new`;
  const names = (await readdir(root)).filter((name) => name !== TRASH);
  if (!names.includes(MARKER)) return;
  await mkdir(card);
  await run("cp", ["-a", ...names.map((name) => join(root, name)), card]);
  await rename(root, `${root}.old`);
  await rename(card, root);
  await rm(`${root}.old`, { recursive: true, force: true });
}

async function listFiles(root: string): Promise<string[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && basename(entry.parentPath) !== TRASH);
  return files.map(({ parentPath, name }) => join(parentPath, name)).filter((path) => path.endsWith(".mcap"));
}
