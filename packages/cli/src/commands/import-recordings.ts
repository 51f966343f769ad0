import { api, type Recording } from "@downlink/protocol";
import { printable } from "@downlink/terminal/printable";
import { RefusedError } from "../failures/failures.ts";
import { pause } from "../failures/pause.ts";
import { readArgument, readFilters } from "../flags/read-filters.ts";
import { readWhole } from "../flags/whole-number.ts";
import type { Service } from "../login/open-service.ts";
import { type AskedParts, followParts, type PartFlags, printEstimate, readPart } from "./import-part.ts";

export interface ImportFlags extends PartFlags {
  readonly priority: string;
  readonly project?: string;
  readonly watch?: true;
  readonly estimate?: true;
}

/** The service answers sooner when something happens. */
const WAIT_SECONDS = 25;
/** The shortest time between two calls where much happens. */
const CALM_MS = 2000;

/** Asks for each; prints a line for each, and one for each change while it waits. Throws {@link RefusedError} where an import has failed. */
export async function importRecordings(
  service: Service,
  recordings: readonly string[],
  { priority: given, project, watch, estimate, ...flags }: ImportFlags,
): Promise<void> {
  const part = readPart(flags);
  const priority = readWhole("--priority", given, { least: -1000, most: 1000 });
  const keysOrIds = recordings.map((text) => readArgument(api.recordings.get, "keyOrId", { name: "RECORDING", text }));
  const inProject = readFilters(api.recordings.get, { project }, { project: "projectId" });
  const { client } = service;
  if (estimate) {
    for (const keyOrId of keysOrIds) await printEstimate(service, { keyOrId, ...inProject }, part);
    return;
  }
  const { next } = await client.call(api.changes.list, {});
  const requested: Recording[] = [];
  const asked: AskedParts[] = [];
  for (const keyOrId of keysOrIds) {
    const { id, cuts } = await client.call(api.recordings.requestImport, { keyOrId, priority, ...inProject, ...part });
    if (cuts) asked.push({ id, cuts });
    else requested.push(await show(service, id));
  }
  await followParts(service, asked, watch === true);
  if (watch) await watchImports(service, requested, next);
}

async function show({ client }: Service, id: string, before?: string): Promise<Recording> {
  const recording = await client.call(api.recordings.get, { keyOrId: id });
  const { importStatus, failure, path } = recording;
  const why = failure ? `: ${printable(failure.text)}` : "";
  if (importStatus !== before) process.stdout.write(`${id}  ${importStatus}${why}  ${printable(path)}\n`);
  return recording;
}

async function watchImports(service: Service, requested: readonly Recording[], first: string): Promise<void> {
  const watched = new Map(requested.map((recording) => [recording.id, recording]));
  const waiting = () => [...watched.values()].filter(({ importStatus }) => !/^(complete|failed)$/.test(importStatus));
  for (let since = first; waiting().length > 0; ) {
    const answer = await service.client.call(api.changes.list, { since, waitSeconds: WAIT_SECONDS });
    since = answer.next;
    const changed = new Set(answer.changes.map(({ id }) => id));
    for (const { id, importStatus } of waiting())
      if (answer.isMissed || changed.size === 0 || changed.has(id))
        watched.set(id, await show(service, id, importStatus));
    if (answer.changes.length > 0 && waiting().length > 0) await pause(CALM_MS, service.signal);
  }
  const failed = [...watched.values()].filter(({ importStatus }) => importStatus === "failed").length;
  if (failed > 0) throw new RefusedError(`${failed} of ${watched.size} could not be imported.`);
}
