import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { ApiCallError, isWorthRetrying } from "@downlink/client";
import { api } from "@downlink/protocol";
import { printable } from "@downlink/terminal/printable";
import { RefusedError, UsageError } from "../failures/failures.ts";
import { pause } from "../failures/pause.ts";
import { showProgress } from "../files/progress.ts";
import { type Flags, readFilters } from "../flags/read-filters.ts";
import type { Service } from "../login/open-service.ts";
import { keepUploads } from "./kept-uploads.ts";
import { type Uploaded, type Uploading, uploadFile } from "./upload-file.ts";

const LOOK_MS = 2000;
const OUTAGE_MS = 15_000;
const RECORDING = /\.(mcap|bag)(\.(zst|lz4|gz|bz2))?$/i;

interface Wanted {
  readonly files: readonly string[];
  readonly flags: Flags;
  /** The address of the control plane, for what is printed. */
  readonly url: string;
}

/**
 * Uploads files one after the other, and says of each where it is. Throws {@link UsageError}, and {@link RefusedError} at the end where some could
 * not be imported.
 */
export async function uploadFiles(service: Service, { files, flags, url }: Wanted): Promise<void> {
  const names = { device: "deviceName", project: "projectId", sessionKey: "sessionKey", key: "key" } as const;
  const belonging = readFilters({ ...api.partUploads.create, query: api.partUploads.create.body }, flags, names);
  if (belonging.deviceName === undefined && belonging.key === undefined)
    throw new UsageError("Whose recordings are they? Give --device NAME.");
  const folder = flags.watch as string | undefined;
  if (files.length === 0 && folder === undefined)
    throw new UsageError("Which files? Name them, or give --watch FOLDER.");
  if (files.length > 1 && belonging.key !== undefined) throw new UsageError("--key names one file.");
  const kept = keepUploads(process.env, [url, belonging]);
  const sending = { service, url, belonging, kept };
  if (folder !== undefined)
    for await (const path of watchFolder(files, folder, service.signal)) await uploadPatiently(sending, path);
  let failed = 0;
  for (const path of files) if (!(await uploadOne(sending, path))) failed += 1;
  if (failed > 0) throw new RefusedError(`${failed} of the files could not be uploaded`);
}

interface Sending extends Omit<Uploading, "onSent"> {
  readonly service: Service;
  readonly url: string;
}

/** Goes on trying while the service cannot be reached: a folder is watched through every outage. */
async function uploadPatiently(sending: Sending, path: string): Promise<void> {
  const { signal } = sending.service;
  for (let isSaid = false; ; isSaid = true) {
    try {
      await uploadOne(sending, path);
      return;
    } catch (error) {
      signal.throwIfAborted();
      if (!isWorthRetrying(error)) throw error;
      if (!isSaid) process.stderr.write(`dl: ${printable((error as Error).message)}; dl goes on trying\n`);
      await pause(OUTAGE_MS, signal);
    }
  }
}

/** Returns false where this file could not be uploaded, and others may be. */
async function uploadOne({ service, url, ...uploading }: Sending, path: string): Promise<boolean> {
  using progress = showProgress(process.stderr);
  try {
    const uploaded = await uploadFile(service, path, { ...uploading, onSent: progress.add });
    progress.end();
    const said = await describeOutcome(service, uploaded, url);
    process.stdout.write(`${printable(path)}  ${printable(said.text)}\n`);
    return said.isDone;
  } catch (error) {
    service.signal.throwIfAborted();
    const isOfFile = error instanceof RefusedError || typeof (error as { errno?: unknown }).errno === "number";
    if (!isOfFile) throw error;
    progress.end();
    process.stderr.write(`dl: ${printable((error as Error).message)}\n`);
    return false;
  }
}

/** Waits until the file is imported, or has failed; for a key that may not see that, the request is all that is known. */
async function describeOutcome(
  service: Service,
  uploaded: Uploaded,
  url: string,
): Promise<{ text: string; isDone: boolean }> {
  if ("existingRecordingId" in uploaded)
    return { text: `was here before: ${await addressOf(service, uploaded.existingRecordingId, url)}`, isDone: true };
  const { requestId } = uploaded;
  for (;;) {
    const found = await service.client.call(api.pendingImports.list, { requestId }).catch(ifRefused);
    const [request] = found ?? [];
    if (!found || !request) return { text: `was sent, as import request ${requestId}`, isDone: true };
    if (request.terminal && request.recordingId)
      return { text: await addressOf(service, request.recordingId, url), isDone: true };
    if (request.terminal) return { text: `was not imported: ${request.error ?? request.status}`, isDone: false };
    await pause(LOOK_MS / 2, service.signal);
  }
}

/** Returns the page of a recording in the console. */
async function addressOf({ client }: Service, id: string, url: string): Promise<string> {
  const recording = await client.call(api.recordings.get, { keyOrId: id }).catch(ifRefused);
  return recording ? `${url}/p/${recording.projectId}/recordings/${id}` : id;
}

function ifRefused(error: unknown): undefined {
  if (error instanceof ApiCallError && error.status === 403) return undefined;
  throw error;
}

/** Yields the files, and then each recording of a folder once it has not changed between two looks, until a signal ends it. */
async function* watchFolder(files: readonly string[], folder: string, signal: AbortSignal): AsyncGenerator<string> {
  yield* files;
  const seen = new Map<string, { state: string; isDone: boolean }>();
  for (;;) {
    for (const name of (await readdir(folder)).filter((one) => RECORDING.test(one)).sort()) {
      const path = join(folder, name);
      const state = await stateOf(path);
      const before = seen.get(path);
      const isReady = state !== undefined && before?.state === state && !before.isDone;
      if (state !== undefined && before?.state !== state) seen.set(path, { state, isDone: false });
      if (!isReady) continue;
      seen.set(path, { state, isDone: true });
      yield path;
    }
    await pause(LOOK_MS, signal);
  }
}

/** Returns undefined for what is gone, or is no file. */
async function stateOf(path: string): Promise<string | undefined> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
  return found?.isFile() ? `${found.size} ${found.mtimeMs}` : undefined;
}
