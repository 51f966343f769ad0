import { partUploads, recordings } from "@downlink/protocol";
import { effect, signal } from "@preact/signals";
import { client } from "../api/client.ts";
import { explainFailure } from "../api/failure.ts";
import { invalidate, noteOutcome } from "../api/queries.ts";
import { isTrayWanted } from "../browser/upload-tray.ts";
import { followImport } from "./follow-import.ts";
import { holdUpload } from "./hold-upload.ts";
import { forgetUpload, isSameFile, type KeptUpload, keepUpload, readKeptUploads } from "./kept-uploads.ts";
import { addSample, type Sample } from "./rate.ts";
import { sendFile } from "./send-file.ts";
import { isEnded, isUnderWay, newUpload, nextState, type UploadEvent, type UploadState } from "./upload-state.ts";

/** Where the files belong. */
export interface Belonging {
  readonly projectId: string;
  readonly device: string;
  readonly sessionKey?: string | undefined;
  readonly userId: string;
}

/** An upload of this tab, or one that was interrupted. */
export interface Upload extends Belonging {
  readonly id: number;
  readonly name: string;
  readonly size: number;
  readonly lastModified: number;
  /** Absent until the file is chosen again. */
  readonly file: File | undefined;
  /** Known once the file was hashed, also in another run. */
  readonly sha256: string | undefined;
  /** The file that was chosen again may be another one, and has to be hashed. */
  readonly isUnsure: boolean;
  readonly requestId: string | undefined;
  readonly state: UploadState;
  readonly samples: readonly Sample[];
}

/** The uploads in the order in which they are sent: one after the other. */
export const uploads = signal<readonly Upload[]>([]);

/** The file that was chosen is not the one that was being uploaded. */
class OtherFileError extends Error {
  override readonly name = "OtherFileError";
}

let lastId = 0;
let running: { readonly id: number; readonly controller: AbortController } | undefined;
/** Functions that let an upload go to other tabs, by the id of its request. */
const holds = new Map<string, () => void>();

effect(() => {
  if (!isTrayWanted.value) endUploads(() => true);
});

const find = (id: number) => uploads.peek().find((one) => one.id === id);

function change(id: number, to: (upload: Upload) => Partial<Upload>): void {
  uploads.value = uploads.peek().map((one) => (one.id === id ? { ...one, ...to(one) } : one));
}

function dispatch(id: number, event: UploadEvent): void {
  change(id, ({ state, samples }) => {
    const sample = event.type === "send" ? { atMs: performance.now(), bytes: event.bytes } : undefined;
    return { state: nextState(state, event), samples: sample ? addSample(samples, sample) : [] };
  });
}

/** Adds files, which are uploaded after those that are there. One that was interrupted goes on, and one that is there already is left alone. */
export function addFiles(files: readonly File[], belonging: Belonging): void {
  isTrayWanted.value = true;
  const added = files.filter((file) => !goOnWith(file) && !isAdded(file)).map((file) => makeUpload(file, belonging));
  uploads.value = [...uploads.peek(), ...added];
  void work();
}

/** Goes on with uploads that were interrupted. Returns the files that belong to none. */
export function goOnWithFiles(files: readonly File[]): readonly File[] {
  return files.filter((file) => !goOnWith(file));
}

function goOnWith(file: File): boolean {
  const upload = uploads.peek().find((one) => one.state.phase === "interrupted" && isSameFile(one, file));
  if (upload) chooseAgain(upload, file);
  return upload !== undefined;
}

function isAdded(file: File): boolean {
  return uploads.peek().some((one) => one.file !== undefined && !isEnded(one.state) && isSameFile(one, file));
}

function makeUpload(file: File, belonging: Belonging): Upload {
  const { name, size, lastModified } = file;
  lastId += 1;
  const begun = { sha256: undefined, isUnsure: false, requestId: undefined, state: newUpload, samples: [] };
  return { ...belonging, ...begun, id: lastId, name, size, lastModified, file };
}

/** Adds an upload that was interrupted, of which so many bytes are stored. */
export function addInterrupted(kept: KeptUpload, sentBytes: number): void {
  if (uploads.peek().some(({ requestId }) => requestId === kept.requestId)) return;
  lastId += 1;
  const state: UploadState = { ...newUpload, phase: "interrupted", sentBytes };
  const added: Upload = {
    sessionKey: undefined,
    ...kept,
    id: lastId,
    file: undefined,
    isUnsure: false,
    state,
    samples: [],
  };
  uploads.value = [...uploads.peek(), added];
}

/** Goes on with the file of an interrupted upload. Another file is hashed before, unless its size shows already that it is not the one. */
export function chooseAgain(upload: Upload, file: File): void {
  if (file.size !== upload.size) {
    dispatch(upload.id, { type: "interrupt", problem: otherFile(upload) });
    return;
  }
  change(upload.id, () => ({ file, isUnsure: !isSameFile(upload, file) }));
  goOn(upload.id);
}

const otherFile = ({ name }: Pick<Upload, "name">) =>
  `The file that you chose is not the ${name} of which a part was sent.`;

export function pause(id: number): void {
  dispatch(id, { type: "pause" });
  if (running?.id === id) running.controller.abort();
}

/** Goes on after a pause, and tries again after a failure. */
export function goOn(id: number): void {
  dispatch(id, { type: "goOn" });
  void work();
}

/** Gives an upload up: what was sent of it is removed. Once every byte is there it is too late, and it is imported. */
export async function giveUp({ id, requestId }: Upload): Promise<void> {
  pause(id);
  if (requestId !== undefined)
    try {
      await noteOutcome(client.call(partUploads.delete, { requestId }));
    } catch (error) {
      const { kind, text } = explainFailure(error);
      if (kind !== "missing" && kind !== "forbidden") {
        dispatch(id, { type: "fail", problem: text });
        return;
      }
    }
  remove(id);
}

/** Clears the rows of which nothing more comes. */
export function clearEnded(): void {
  endUploads(({ state }) => isEnded(state));
}

export function clear(id: number): void {
  endUploads((one) => one.id === id);
}

/** Ends uploads in this tab, and leaves what was sent of them. */
export function endUploads(isMeant: (upload: Upload) => boolean): void {
  const meant = uploads.peek().filter(isMeant);
  for (const { id, requestId } of meant) {
    if (running?.id === id) running.controller.abort();
    release(requestId);
  }
  if (meant.length > 0) uploads.value = uploads.peek().filter((one) => !isMeant(one));
}

function remove(id: number): void {
  const requestId = find(id)?.requestId;
  if (requestId !== undefined) forgetUpload(requestId);
  endUploads((one) => one.id === id);
}

function release(requestId: string | undefined): void {
  if (requestId === undefined) return;
  holds.get(requestId)?.();
  holds.delete(requestId);
}

/** Uploads the files that wait, one after the other. */
async function work(): Promise<void> {
  if (running) return;
  for (;;) {
    const next = uploads.peek().find(({ state, file }) => state.phase === "waiting" && file !== undefined);
    if (!next) return;
    running = { id: next.id, controller: new AbortController() };
    await run(next, running.controller.signal);
    running = undefined;
  }
}

async function run(upload: Upload, signal: AbortSignal): Promise<void> {
  const { id, projectId, device, sessionKey, file, isUnsure } = upload;
  const report = (event: UploadEvent) => {
    if (!signal.aborted) dispatch(id, event);
  };
  const belonging = { projectId, deviceName: device, sessionKey };
  const wanted = { file: file!, belonging, sha256: isUnsure ? undefined : upload.sha256 };
  const callbacks = {
    onHashed: (sha256: string) => takeHash(id, sha256),
    onBegun: (requestId: string) => takeUpload(id, requestId),
  };
  try {
    const sent = await sendFile(wanted, { signal, report, ...callbacks });
    if (sent) noteStored(id, sent);
  } catch (error) {
    if (signal.aborted) return;
    if (error instanceof OtherFileError) {
      change(id, () => ({ file: undefined }));
      report({ type: "interrupt", problem: error.message });
    } else report({ type: "fail", problem: explainFailure(error).text });
  }
}

/** Returns the upload of the same content that was begun before, also where its file had another name then. */
function takeHash(id: number, sha256: string): string | undefined {
  const upload = find(id)!;
  if (upload.sha256 !== undefined && upload.sha256 !== sha256) throw new OtherFileError(otherFile(upload));
  change(id, () => ({ sha256, isUnsure: false }));
  return upload.requestId ?? readKeptUploads().find((kept) => isSameUpload(kept, { ...upload, sha256 }))?.requestId;
}

function isSameUpload(kept: KeptUpload, upload: Upload): boolean {
  const fields = ["sha256", "projectId", "device", "sessionKey", "userId"] as const;
  return fields.every((field) => kept[field] === upload[field]);
}

/** Takes the upload for this tab and keeps it for another time. */
async function takeUpload(id: number, requestId: string): Promise<void> {
  if (!holds.has(requestId)) {
    const letGo = await holdUpload(requestId);
    if (!letGo) throw new Error("This file is being uploaded in another tab.");
    holds.set(requestId, letGo);
  }
  const upload = find(id);
  if (!upload) return release(requestId); // it was taken away meanwhile
  const { name, size, lastModified, sha256, projectId, device, sessionKey, userId, file } = upload;
  const times = { name: file?.name ?? name, size, lastModified: file?.lastModified ?? lastModified };
  keepUpload({ requestId, ...times, sha256: sha256!, projectId, device, userId, ...(sessionKey && { sessionKey }) });
  change(id, () => ({ requestId, ...times }));
  uploads.value = uploads.peek().filter((one) => one.id === id || one.requestId !== requestId);
}

/** Every byte is there: the upload need not be kept, and the next file is sent while this one is imported. */
export function noteStored(id: number, { requestId }: { readonly requestId: string }): void {
  forgetUpload(requestId);
  release(requestId);
  dispatch(id, { type: "store" });
  void followImport(requestId, () => find(id) !== undefined).then((event) => {
    if (!event) return;
    dispatch(id, event);
    if (event.type === "fail") change(id, () => ({ requestId: undefined })); // another try is another upload
    invalidate(recordings.list, recordings.summarize);
  });
}

/** Returns whether the page has something to lose. */
export function isSending(all: readonly Upload[]): boolean {
  return all.some(({ state }) => isUnderWay(state));
}
