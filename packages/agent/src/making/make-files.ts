import { readdir } from "node:fs/promises";
import { ApiCallError } from "@downlink/client";
import { SourceChangedError } from "@downlink/recordings";
import { repeatWithRetries } from "../cloud/retry-loop.ts";
import type { CloudSession } from "../cloud/session.ts";
import type { WorkBoard } from "../cloud/work-board.ts";
import type { Quota } from "../deleting/quota.ts";
import type { Log } from "../diagnostics/log.ts";
import { FileMovedError, isInside, isMissing, type Storage } from "../files/open-tracked.ts";
import type { StorageRoot } from "../files/storage-root.ts";
import type { Examination, ExaminationNotes } from "../indexing/examination-notes.ts";
import type { Inventory } from "../inventory/inventory.ts";
import type { TrackedFile } from "../inventory/tracked-file.ts";
import type { WakeSignal } from "../loops/wake-signal.ts";
import { isFileSystemError } from "../system/system-error.ts";
import { type MeasureRoom, measureRoom } from "./measure-room.ts";
import { NoRoomError } from "./write-made-file.ts";

export interface MakingContext {
  readonly session: CloudSession;
  readonly board: WorkBoard;
  readonly inventory: Inventory;
  readonly storageRoot: StorageRoot;
  readonly notes: ExaminationNotes;
  readonly log: Log;
  readonly quota: Quota;
  /** To be notified when a file was written. */
  readonly scanSignal: WakeSignal;
  /** Whether the cloud knows all that is here: only then is a file that is not here gone. */
  readonly isListed: () => boolean;
}

interface Request {
  readonly requestId: string;
  readonly versionId: string;
}

/** The files that are made of others because the control plane wants it, such as salvages. */
export interface Making<R extends Request, Code extends string> {
  readonly examination: Examination;
  /** Is notified when there may be something to make, and after each scan. */
  readonly woken: WakeSignal;
  wanted(): readonly R[];
  /** Whether it can be made of the file as it is. */
  isReady(file: TrackedFile): boolean;
  write(job: {
    readonly storage: Storage;
    readonly file: TrackedFile;
    readonly request: R;
    readonly room: MeasureRoom;
    /** Is aborted also when the request is not wanted any more. */
    readonly signal: AbortSignal;
  }): Promise<void>;
  readonly codes: Readonly<Record<"gone" | "unreadable" | "broken" | "nothing" | "noRoom", Code>>;
  /** Whether the error says that nothing would be in the file. */
  isNothing(error: unknown): boolean;
  /** The sentence in the log for one that was made. */
  readonly made: string;
  /** Tells the control plane that it cannot be made. */
  giveUp(request: R, why: { readonly code: Code; readonly text: string }, signal: AbortSignal): Promise<unknown>;
  /** Removes what is not needed any more. A file that has to stay is looked at again after the next scan. */
  clean(storage: Storage): Promise<void>;
}

/** How soon to look again for a wanted file that is not here yet, or that is changing. */
const LOOK_AGAIN_MS = 10_000;

/** Makes one file after the other, as long as they are wanted, until aborted. */
export async function makeFiles<R extends Request, Code extends string>(
  ctx: MakingContext,
  making: Making<R, Code>,
  signal: AbortSignal,
): Promise<void> {
  /** Requests that need nothing more: the cloud learns of the result from the next report, or knows it already. */
  const ended = new Set<string>();
  const makeOrRest = async () => {
    const wanted = making.wanted();
    for (const id of ended) if (!wanted.some(({ requestId }) => requestId === id)) ended.delete(id);
    const storage = ctx.storageRoot.current();
    if (storage) await clean(ctx, making, storage);
    const open = wanted.filter(({ requestId }) => !ended.has(requestId));
    for (const request of lastSuspects(ctx, making, open))
      if (!isWanted(making, request) || (await attend(ctx, making, { request, signal }))) ended.add(request.requestId);
    await making.woken.wait(signal, wanted.length === ended.size ? undefined : LOOK_AGAIN_MS);
  };
  await repeatWithRetries(makeOrRest, { session: ctx.session, signal });
}

/** A file that cannot be removed now, as on a disk that is read-only, is tried again, and keeps no other from being made or given up. */
async function clean(
  { log }: MakingContext,
  making: Pick<Making<Request, string>, "clean">,
  storage: Storage,
): Promise<void> {
  try {
    await making.clean(storage);
  } catch (error) {
    if (!isFileSystemError(error)) throw error;
    log.debug({ reason: error.message }, "a file that the agent made cannot be removed now");
  }
}

/** A file of which the agent died before comes last, so that it does not hold up the others. */
function lastSuspects<R extends Request>(
  { inventory, notes }: MakingContext,
  { examination }: { readonly examination: Examination },
  wanted: readonly R[],
): R[] {
  const isSuspect = ({ versionId }: R): boolean => {
    const file = inventory.version(versionId);
    return file !== undefined && notes.standingOf(file, examination) === "suspect";
  };
  return [...wanted.filter((request) => !isSuspect(request)), ...wanted.filter(isSuspect)];
}

interface Attending<R> {
  readonly request: R;
  readonly signal: AbortSignal;
}

/** Returns false where the request has to wait. */
async function attend<R extends Request, Code extends string>(
  ctx: MakingContext,
  making: Making<R, Code>,
  { request, signal }: Attending<R>,
): Promise<boolean> {
  const { inventory, storageRoot, log, scanSignal } = ctx;
  const { examination, codes } = making;
  const storage = storageRoot.current();
  const file = inventory.version(request.versionId);
  const end = (why: { code: Code; text: string }) => giveUp(ctx, making, { request, signal, ...why });
  if (!storage) return false;
  if (!file) return ctx.isListed() && end({ code: codes.gone, text: FILE_GONE });
  if (!making.isReady(file)) return false;
  const standing = ctx.notes.standingOf(file, examination);
  if (standing === "setAside") return end({ code: codes.broken, text: ENDS_AGENT });
  try {
    using _note = ctx.notes.begin(file, examination);
    using wanted = watchWanted(making, request, signal);
    const room: MeasureRoom = (writtenBytes) => measureRoom(ctx, storage.root, writtenBytes);
    await making.write({ storage, file, request, room, signal: wanted.signal });
    ctx.notes.acquit(file, examination);
    log.info({ path: file.path }, making.made);
    scanSignal.notify();
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    ctx.notes.acquit(file, examination);
    if (!isWanted(making, request)) return true;
    scanSignal.notify();
    const why = explain(error, file, making);
    return why !== undefined && end(why);
  }
}

function isWanted<R extends Request>({ wanted }: Pick<Making<R, string>, "wanted">, { requestId }: R): boolean {
  return wanted().some((request) => request.requestId === requestId);
}

/** The signal is aborted as soon as the request is not wanted any more: making a file may take minutes, and others wait. */
function watchWanted<R extends Request>(
  making: Pick<Making<R, string>, "wanted" | "woken">,
  request: R,
  signal: AbortSignal,
): Disposable & { readonly signal: AbortSignal } {
  const [unwanted, over] = [new AbortController(), new AbortController()];
  const watch = async () => {
    while (!over.signal.aborted) {
      await making.woken.wait(over.signal);
      if (!isWanted(making, request)) unwanted.abort();
    }
    making.woken.notify(); // The loop did not see what was notified meanwhile.
  };
  void watch();
  return { signal: AbortSignal.any([signal, unwanted.signal]), [Symbol.dispose]: () => over.abort() };
}

const ENDS_AGENT =
  "The agent ended more than once while it read the file, which may take more memory than there is. It can be asked for again a day later.";
const FILE_GONE = "The file is no longer on the device, or was changed.";

/** Returns why a file cannot be made; undefined where the next scan finds it out. */
function explain<R extends Request, Code extends string>(
  error: unknown,
  { path }: TrackedFile,
  { codes, isNothing }: Making<R, Code>,
): { code: Code; text: string } | undefined {
  if (error instanceof FileMovedError || error instanceof SourceChangedError) return undefined;
  if (isNothing(error)) return { code: codes.nothing, text: (error as Error).message };
  if (error instanceof NoRoomError) return { code: codes.noRoom, text: error.message };
  if (isFileSystemError(error)) return { code: codes.unreadable, text: error.message };
  // Any other fault comes from the content, and must not keep the agent from the next file.
  return { code: codes.broken, text: `${path} cannot be read: ${(error as Error).message}` };
}

interface GivingUp<R, Code> extends Attending<R> {
  readonly code: Code;
  readonly text: string;
}

async function giveUp<R extends Request, Code extends string>(
  ctx: MakingContext,
  making: Making<R, Code>,
  { request, signal, code, text }: GivingUp<R, Code>,
): Promise<true> {
  const why = { code, text: text.slice(0, 1000).toWellFormed() };
  try {
    await making.giveUp(request, why, signal);
    ctx.log.warn(
      { request: request.requestId, version: request.versionId, ...why },
      `a ${making.examination} was given up`,
    );
  } catch (failure) {
    const isOver =
      failure instanceof ApiCallError && (failure.code === "NotFound" || failure.code === "RequestSuperseded");
    if (!isOver) throw failure;
  }
  return true;
}

/** Returns the names in a directory of the root; none where it is not there, or leads out of the root. */
export async function namesIn(storage: Storage, path: string): Promise<string[]> {
  try {
    return (await isInside(storage, path)) ? await readdir(`${storage.root}/${path}`) : [];
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}
