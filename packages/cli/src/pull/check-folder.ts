import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { countOf } from "@downlink/terminal/amounts";
import { printable } from "@downlink/terminal/printable";
import { RefusedError } from "../failures/failures.ts";
import type { Service } from "../login/open-service.ts";
import type { WantedVersion } from "./find-version.ts";
import { describeEpisode, MANIFEST, type Manifest, readManifest } from "./manifest.ts";
import { measureFile } from "./measure-file.ts";

interface Checking {
  readonly folder: string;
  readonly output: NodeJS.WritableStream;
}

/**
 * Compares a folder with its manifest, and that with the service. Prints a line for each difference. Throws {@link RefusedError} where there
 * is one.
 */
export async function checkFolder(
  service: Service,
  wanted: WantedVersion,
  { folder, output }: Checking,
): Promise<void> {
  const manifest = await readManifest(folder, wanted);
  if (!manifest) throw new RefusedError(`${folder} has no ${MANIFEST}: dl datasets pull writes it`);
  let found = 0;
  for await (const line of findDifferences({ folder, wanted, manifest, signal: service.signal })) {
    output.write(`${printable(line)}\n`);
    found += 1;
  }
  if (found > 0) throw new RefusedError(`${folder} is not the version: ${countOf(found, "difference")}`);
  output.write(`${printable(folder)}: ${countOf(wanted.episodes.length, "episode")}, all whole\n`);
}

interface Compared {
  readonly folder: string;
  readonly wanted: WantedVersion;
  readonly manifest: Manifest;
  readonly signal: AbortSignal;
}

async function* findDifferences(compared: Compared): AsyncGenerator<string> {
  const { folder, wanted, manifest } = compared;
  for (const episode of wanted.episodes) yield* compareEpisode(compared, describeEpisode(episode));
  const known = new Set(wanted.episodes.map(({ id }) => id));
  for (const { id } of manifest.episodes) if (!known.has(id)) yield `extra    ${MANIFEST}: ${id} is not in the version`;
  const expected = new Set([MANIFEST, ...wanted.episodes.map((episode) => describeEpisode(episode).file)]);
  for (const name of (await readdir(folder)).sort())
    if (!expected.has(name)) yield `${name.endsWith(".part") ? "partial" : "extra  "}  ${name}`;
}

async function* compareEpisode({ folder, manifest, signal }: Compared, facts: ReturnType<typeof describeEpisode>) {
  const entry = manifest.episodes.find(({ id }) => id === facts.id);
  if (!entry) return void (yield `missing  ${facts.file}: it is not in the manifest`);
  const { size, sha256, missing, damaged: _, ...noted } = entry;
  if (!isDeepStrictEqual(noted, JSON.parse(JSON.stringify(facts))))
    yield `altered  ${MANIFEST}: the service has other facts of ${facts.id}`;
  if (missing !== undefined) return void (yield `missing  ${facts.file}: ${missing}`);
  const here = await measureFile(join(folder, facts.file), signal);
  if (!here || sha256 === undefined) yield `missing  ${facts.file}`;
  else if (here.size !== size || here.sha256 !== sha256) yield `altered  ${facts.file}`;
}
