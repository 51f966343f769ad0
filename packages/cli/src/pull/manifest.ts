import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { formatTimestamp } from "@downlink/protocol";
import { RefusedError } from "../failures/failures.ts";
import { openOutput } from "../files/output-file.ts";
import { safeName } from "../files/safe-name.ts";
import type { WantedVersion } from "./find-version.ts";

export const MANIFEST = "manifest.json";
const FORMAT = "downlink-dataset-1";

/** How the file of an episode came out. */
export interface Result {
  readonly size?: number;
  readonly sha256?: string;
  /** A part of its recordings is damaged; the file says which in its record `downlink.export`. */
  readonly damaged?: true;
  /** Why there is no file. */
  readonly missing?: string;
}

type Episode = WantedVersion["episodes"][number];
type EpisodeEntry = ReturnType<typeof describeEpisode> & Result;

/** The file that describes a folder. It lists every episode of the version from the beginning on; one that is there has its size and hash. */
export interface Manifest {
  readonly format: typeof FORMAT;
  readonly dataset: { readonly id: string; readonly name: string; readonly projectId: string };
  readonly version: { readonly versionNumber: number; readonly committedAt?: string; readonly message?: string };
  readonly episodes: readonly EpisodeEntry[];
}

/** Returns the facts of an episode that never change. The name of its file is made of them alone. */
export function describeEpisode({ id, startTime, endTime, metadata, recordings = [] }: Episode) {
  const start = formatTimestamp(startTime);
  return {
    id,
    file: `${safeName(`${start.slice(0, 19)}Z_${id}`.replaceAll(/[:/]/g, "-"))}.mcap`,
    startTime: start,
    endTime: formatTimestamp(endTime),
    metadata,
    recordings: recordings.map((recording) => ({
      id: recording.id,
      path: recording.path,
      start: formatTimestamp(recording.start),
      end: formatTimestamp(recording.end),
      ...(recording.deviceId !== undefined && { deviceId: recording.deviceId }),
    })),
  };
}

/** Returns undefined where there is none. Throws {@link RefusedError} for one that is of something else. */
export async function readManifest(folder: string, wanted: WantedVersion): Promise<Manifest | undefined> {
  const path = join(folder, MANIFEST);
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
  if (text === undefined) return undefined;
  const manifest = parse(text);
  if (manifest?.format !== FORMAT || !Array.isArray(manifest.episodes))
    throw new RefusedError(`${path} was not written by dl datasets pull`);
  const { dataset, version } = manifest;
  if (dataset?.id === wanted.dataset.id && version?.versionNumber === wanted.version.versionNumber) return manifest;
  throw new RefusedError(
    `${folder} holds version ${version?.versionNumber} of ${dataset?.name} (${dataset?.id}), and not version ${wanted.version.versionNumber} of ${wanted.dataset.name}`,
  );
}

function parse(text: string): Manifest | undefined {
  try {
    return JSON.parse(text) as Manifest;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

export interface KeptManifest {
  /** The result of each episode that has one, by its id. */
  readonly results: ReadonlyMap<string, Result>;
  /** Notes a result; resolves once it is on the disk. */
  note(id: string, result: Result): Promise<void>;
}

/** Opens the manifest of a folder, and writes it. Results that are noted while it is being written come with the next writing. */
export async function keepManifest(folder: string, wanted: WantedVersion): Promise<KeptManifest> {
  const before = await readManifest(folder, wanted);
  const results = new Map(before?.episodes.map(({ id, ...entry }) => [id, pickResult(entry)]));
  const described = wanted.episodes.map(describeEpisode);
  let [isChanged, writing]: [boolean, Promise<void> | undefined] = [false, undefined];
  const writeChanges = async () => {
    while (isChanged) {
      isChanged = false;
      const episodes = described.map((episode) => ({ ...episode, ...results.get(episode.id) }));
      await writeManifest(folder, { ...headOf(wanted), episodes });
    }
  };
  const save = () => {
    isChanged = true;
    writing ??= writeChanges().finally(() => {
      writing = undefined;
    });
    return writing;
  };
  await save();
  return {
    results,
    note: (id, result) => {
      results.set(id, result);
      return save();
    },
  };
}

function pickResult({ size, sha256, damaged, missing }: Result): Result {
  return {
    ...(size !== undefined && { size }),
    ...(sha256 !== undefined && { sha256 }),
    ...(damaged && { damaged }),
    ...(missing !== undefined && { missing }),
  };
}

function headOf({ dataset, version }: WantedVersion): Omit<Manifest, "episodes"> {
  const { id, name, projectId } = dataset;
  const { versionNumber, committedAt, message } = version;
  const facts = {
    ...(committedAt !== undefined && { committedAt: formatTimestamp(committedAt) }),
    ...(message && { message }),
  };
  return { format: FORMAT, dataset: { id, name, projectId }, version: { versionNumber, ...facts } };
}

async function writeManifest(folder: string, manifest: Manifest): Promise<void> {
  await using output = await openOutput(join(folder, MANIFEST), { force: true });
  await output.write(Buffer.from(`${JSON.stringify(manifest, undefined, 2)}\n`));
  await output.keep();
}
