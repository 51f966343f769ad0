import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { api, type Output, type TrainingSet } from "@downlink/protocol";
import { countOf, formatBytes } from "@downlink/terminal/amounts";
import { printable } from "@downlink/terminal/printable";
import { RefusedError } from "../failures/failures.ts";
import { fetchFile } from "../files/fetch-file.ts";
import { showProgress } from "../files/progress.ts";
import { safeName } from "../files/safe-name.ts";
import { readArgument } from "../flags/read-filters.ts";
import { readByCursor } from "../lists/read-pages.ts";
import type { Service } from "../login/open-service.ts";
import { inParallel } from "../pull/in-parallel.ts";
import { measureFile } from "../pull/measure-file.ts";
import { waitForSet } from "./wait-for-set.ts";

/** The argument and flags of `dl training-set pull`. */
export interface PullSetFlags extends Pulling {
  readonly set: string;
}

interface Pulling {
  readonly folder?: string;
  readonly notes: NodeJS.WriteStream;
}

type SetFile = Output<typeof api.trainingSets.listFiles>["files"][number];

const AT_ONCE = 4;
const MOST_NAMED = 20;

/** Fetches the files of a set that a folder does not have yet, once the set is built. Throws {@link UsageError} and {@link RefusedError}. */
export async function pullSet(service: Service, { set: text, ...pulling }: PullSetFlags): Promise<void> {
  const id = readArgument(api.trainingSets.get, "id", { name: "SET", text });
  const set = await service.client.call(api.trainingSets.get, { id });
  await pullReady(service, await waitForSet(service, set, pulling.notes), pulling);
}

/** Does the same with a set that is ready. */
export async function pullReady(service: Service, set: TrainingSet, pulling: Pulling): Promise<void> {
  const { id } = set;
  const { folder = id, notes } = pulling;
  await requireSame(folder, set);
  const list = () => listFiles(service, id);
  const files = await list();
  const linkOf = keepLinks(files, list);
  using progress = showProgress(notes);
  let [bytes, here] = [0, 0];
  await inParallel(files, AT_ONCE, async (file) => {
    const path = join(folder, file.path);
    bytes += file.size;
    const before = await measureFile(path, service.signal);
    if (before?.sha256 === file.sha256) {
      here += 1;
      return;
    }
    await mkdir(dirname(path), { recursive: true });
    const wanted = { sizeBytes: file.size, sha256: file.sha256, link: () => linkOf(file.path) };
    await fetchFile(service, wanted, { path, force: true, onBytes: progress.add });
  });
  progress.end();
  await noteBeside(folder, new Set(files.map(({ path }) => path)), notes);
  const before = here > 0 ? `; ${here} were here already` : "";
  notes.write(`${printable(folder)}: ${countOf(files.length, "file")}, ${formatBytes(bytes)}${before}\n`);
}

/** Two sets in one folder would be one with the rows of both. Throws {@link RefusedError} for a folder that has another one. */
async function requireSame(folder: string, { identity }: TrainingSet): Promise<void> {
  const about = await readFile(join(folder, "downlink.json"), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "{}";
    throw error;
  });
  const found = findIdentity(about);
  if (found !== undefined && found !== identity)
    throw new RefusedError(
      `${folder} has another training set, of the identity ${found.slice(0, 12)}…; name another folder`,
    );
}

function findIdentity(about: string): string | undefined {
  try {
    const { identity } = JSON.parse(about) as { identity?: unknown };
    return typeof identity === "string" ? identity : undefined;
  } catch {
    return undefined; // it was cut, and is fetched again
  }
}

async function listFiles({ client }: Service, id: string): Promise<readonly SetFile[]> {
  const { rows } = await readByCursor(Number.MAX_SAFE_INTEGER, async (part) => {
    const { output, headers } = await client.callWithHeaders(api.trainingSets.listFiles, { id, ...part });
    return { rows: output.files, headers };
  });
  for (const { path } of rows)
    if (!path.split("/").every((name) => safeName(name) === name))
      throw new RefusedError(`the service names a file ${path}, which dl writes nowhere`);
  return rows;
}

/** Returns the links of a list by their paths. One that is asked for again has expired, and all come of another list then. */
function keepLinks(first: readonly SetFile[], list: () => Promise<readonly SetFile[]>) {
  const given = new Set<string>();
  let files = new Map(first.map((file) => [file.path, file]));
  let refreshing: Promise<void> | undefined;
  const refresh = async () => {
    files = new Map((await list()).map((file) => [file.path, file]));
    given.clear();
    refreshing = undefined;
  };
  return async (path: string): Promise<string> => {
    if (given.has(path)) {
      refreshing ??= refresh();
      await refreshing;
    }
    const file = files.get(path);
    if (!file) throw new RefusedError(`the set has no file ${path} any more`);
    given.add(path);
    return file.link;
  };
}

/** Removes the parts that calls left which were killed, and names what else is in the folder and not of the set. */
async function noteBeside(folder: string, paths: ReadonlySet<string>, notes: NodeJS.WriteStream): Promise<void> {
  const beside: string[] = [];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory()) continue;
    const path = relative(folder, join(entry.parentPath, entry.name)).split(sep).join("/");
    const [, partOf] = /^(.*)\.[0-9a-f]{8,}\.part$/.exec(path) ?? [];
    if (partOf !== undefined && paths.has(partOf)) await rm(join(folder, path), { force: true });
    else if (!paths.has(path)) beside.push(path);
  }
  for (const path of beside.sort().slice(0, MOST_NAMED)) notes.write(`dl: ${printable(path)} is not of the set\n`);
  if (beside.length > MOST_NAMED)
    notes.write(`dl: ${beside.length - MOST_NAMED} more files in ${printable(folder)} are not of the set\n`);
}
