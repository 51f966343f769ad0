import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { countOf, formatBytes } from "@downlink/terminal/amounts";
import { printable } from "@downlink/terminal/printable";
import { RefusedError } from "../failures/failures.ts";
import { showProgress } from "../files/progress.ts";
import { safeName } from "../files/safe-name.ts";
import type { Service } from "../login/open-service.ts";
import { checkFolder } from "./check-folder.ts";
import { fetchEpisode } from "./fetch-episode.ts";
import { findVersion, type WantedVersion } from "./find-version.ts";
import { inParallel } from "./in-parallel.ts";
import { describeEpisode, type KeptManifest, keepManifest, MANIFEST, type Result } from "./manifest.ts";
import { measureFile } from "./measure-file.ts";

/** The arguments and flags of `dl datasets pull`. */
export interface PullFlags {
  readonly dataset: string;
  readonly version: string | undefined;
  readonly folder?: string;
  readonly project?: string;
  readonly check?: true;
  readonly output: NodeJS.WritableStream;
  readonly notes: NodeJS.WriteStream;
}

const AT_ONCE = 4;

/**
 * Writes each episode of a version to a file of its own, beside a manifest, or checks such a folder. Throws {@link UsageError}, and
 * {@link RefusedError} where episodes are missing, once all others are there.
 */
export async function pullDataset(service: Service, flags: PullFlags): Promise<void> {
  const wanted = await findVersion(service, flags);
  const folder = flags.folder ?? safeName(`${wanted.dataset.name}-v${wanted.version.versionNumber}`);
  if (flags.check) return await checkFolder(service, wanted, { folder, output: flags.output });
  await mkdir(folder, { recursive: true });
  const manifest = await keepManifest(folder, wanted);
  using shown = showPull(flags.notes, wanted.episodes.length);
  await inParallel(wanted.episodes, AT_ONCE, async (episode) => {
    const { id, file } = describeEpisode(episode);
    const path = join(folder, file);
    const before = await findWhole(path, manifest.results.get(id), service.signal);
    if (before) return shown.skip(before);
    const target = { episodeId: id, projectId: wanted.dataset.projectId, path, onBytes: shown.add };
    const result = await fetchEpisode(service, target);
    await manifest.note(id, result);
    shown.note(file, result);
  });
  await removeParts(folder, wanted, manifest);
  const missing = [...manifest.results.values()].filter((result) => result.missing !== undefined).length;
  flags.notes.write(`${printable(folder)}: ${shown.sum()}\n`);
  if (missing > 0)
    throw new RefusedError(
      `${missing} of ${countOf(wanted.episodes.length, "episode")} are missing; ${MANIFEST} names them`,
    );
}

/** Returns the result of an earlier call if the file has not changed since. */
async function findWhole(path: string, before: Result | undefined, signal: AbortSignal): Promise<Result | undefined> {
  if (before?.sha256 === undefined) return undefined;
  const here = await measureFile(path, signal);
  return here?.sha256 === before.sha256 && here.size === before.size ? before : undefined;
}

/** Removes the parts that calls left which were killed, of files that are whole by now. */
async function removeParts(folder: string, { episodes }: WantedVersion, { results }: KeptManifest): Promise<void> {
  const whole = episodes.map(describeEpisode).filter(({ id }) => results.get(id)?.sha256 !== undefined);
  const names = new Set([MANIFEST, ...whole.map(({ file }) => file)]);
  for (const name of await readdir(folder)) {
    const [, partOf] = /^(.*)\.[0-9a-f]+\.part$/.exec(name) ?? [];
    if (partOf !== undefined && names.has(partOf)) await rm(join(folder, name), { force: true });
  }
}

function showPull(notes: NodeJS.WriteStream, count: number) {
  const progress = showProgress(notes);
  let [done, skipped, files, bytes] = [0, 0, 0, 0];
  const keep = ({ size }: Result) => {
    done += 1;
    files += size === undefined ? 0 : 1;
    bytes += size ?? 0;
  };
  return {
    add: progress.add,
    skip(result: Result): void {
      keep(result);
      skipped += 1;
    },
    note(file: string, result: Result): void {
      keep(result);
      progress.end();
      const what = result.missing === undefined ? formatBytes(result.size ?? 0) : `missing: ${result.missing}`;
      notes.write(`dl: ${done} of ${count}  ${printable(file)}  ${printable(what)}\n`);
    },
    sum: () =>
      `${countOf(files, "episode")}, ${formatBytes(bytes)}${skipped > 0 ? `; ${skipped} were here already` : ""}`,
    [Symbol.dispose]: progress.end,
  };
}
