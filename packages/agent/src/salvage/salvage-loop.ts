import { readdir, rm } from "node:fs/promises";
import { ApiCallError } from "@downlink/client";
import { api, type SalvageFailure, type WantedSalvage } from "@downlink/protocol";
import { SalvageEmptyError, SourceChangedError } from "@downlink/recordings";
import { repeatWithRetries } from "../cloud/retry-loop.ts";
import type { CloudSession } from "../cloud/session.ts";
import type { WorkBoard } from "../cloud/work-board.ts";
import type { Log } from "../diagnostics/log.ts";
import { FileMovedError, isInside, isMissing, type Storage } from "../files/open-tracked.ts";
import { PARTIAL, SALVAGE_DIRECTORY } from "../files/salvage-path.ts";
import type { StorageRoot } from "../files/storage-root.ts";
import type { ExaminationNotes } from "../indexing/examination-notes.ts";
import type { Inventory } from "../inventory/inventory.ts";
import type { TrackedFile } from "../inventory/tracked-file.ts";
import type { WakeSignal } from "../loops/wake-signal.ts";
import { isFileSystemError } from "../system/system-error.ts";
import { NoRoomError, writeSalvage } from "./write-salvage.ts";

export interface SalvageContext {
  readonly session: CloudSession;
  readonly board: WorkBoard;
  readonly inventory: Inventory;
  readonly storageRoot: StorageRoot;
  readonly notes: ExaminationNotes;
  readonly log: Log;
  /** Is notified when there may be something to salvage. */
  readonly salvageSignal: WakeSignal;
  /** To be notified when a file was written. */
  readonly scanSignal: WakeSignal;
  /** Whether the cloud knows all that is here: only then is a file that is not here gone. */
  readonly isListed: () => boolean;
}

/** How soon to look again for a wanted file that is not here yet, or that is changing. */
const LOOK_AGAIN_MS = 10_000;

/** Makes one salvage after the other, as long as they are wanted, until aborted. */
export async function runSalvages(ctx: SalvageContext, signal: AbortSignal): Promise<void> {
  const { session, board, salvageSignal } = ctx;
  const cleaning = createCleaning(ctx.storageRoot);
  /** Requests that need nothing more: the cloud learns of the result from the next report, or knows it already. */
  const ended = new Set<string>();
  const salvageOrRest = async () => {
    const wanted = board.salvages();
    for (const id of ended) if (!wanted.some(({ requestId }) => requestId === id)) ended.delete(id);
    await cleaning.clean();
    const open = wanted.filter(({ requestId }) => !ended.has(requestId));
    for (const request of lastSuspects(ctx, open)) if (await attend(ctx, request, signal)) ended.add(request.requestId);
    const isDone = cleaning.isDone() && wanted.length === ended.size;
    await salvageSignal.wait(signal, isDone ? undefined : LOOK_AGAIN_MS);
  };
  await repeatWithRetries(salvageOrRest, { session, signal });
}

/** Removes once, as soon as the storage root is there, what an earlier process left of salvages that it did not end. */
function createCleaning(storageRoot: StorageRoot) {
  let isDone = false;
  return {
    isDone: () => isDone,
    async clean() {
      const storage = storageRoot.current();
      if (!storage || isDone) return;
      await removeLeftovers(storage);
      isDone = true;
    },
  };
}

/** A file during whose salvage the agent died before comes last, so that it does not hold up the others. */
function lastSuspects({ inventory, notes }: SalvageContext, wanted: readonly WantedSalvage[]): WantedSalvage[] {
  const isSuspect = ({ versionId }: WantedSalvage): boolean => {
    const file = inventory.version(versionId);
    return file !== undefined && notes.standingOf(file, "salvage") === "suspect";
  };
  return [...wanted.filter((request) => !isSuspect(request)), ...wanted.filter(isSuspect)];
}

/** Returns false where the request has to wait. */
async function attend(ctx: SalvageContext, request: WantedSalvage, signal: AbortSignal): Promise<boolean> {
  const { inventory, storageRoot, log, scanSignal } = ctx;
  const storage = storageRoot.current();
  const file = inventory.version(request.versionId);
  if (!storage) return false;
  if (!file) return ctx.isListed() && giveUp(ctx, request, { code: "FileGone", text: FILE_GONE, signal });
  if (file.state !== "incomplete" && file.state !== "damaged") return false;
  const standing = ctx.notes.standingOf(file, "salvage");
  if (standing === "setAside") return giveUp(ctx, request, { code: "NothingReadable", text: ENDS_AGENT, signal });
  try {
    const { reason } = inventory.findings(file.versionId) ?? {};
    using _note = ctx.notes.begin(file, "salvage");
    await writeSalvage({ storage, file, reason, signal });
    ctx.notes.acquit(file, "salvage");
    log.info({ path: file.path }, "what is readable of a file was salvaged");
    scanSignal.notify();
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    ctx.notes.acquit(file, "salvage");
    scanSignal.notify();
    const why = explain(error, file);
    return why !== undefined && giveUp(ctx, request, { ...why, signal });
  }
}

const ENDS_AGENT =
  "The agent ended more than once while it salvaged the file, which may take more memory than there is. It can be asked for again a day later.";
const FILE_GONE = "The file is no longer on the device, or was changed.";

/** Returns why a salvage failed; undefined where the next scan finds it out. */
function explain(error: unknown, { path }: TrackedFile): { code: SalvageFailure; text: string } | undefined {
  if (error instanceof FileMovedError || error instanceof SourceChangedError) return undefined;
  if (error instanceof SalvageEmptyError)
    return { code: "NothingReadable", text: `No message of ${path} can be read.` };
  if (error instanceof NoRoomError) return { code: "NoSpace", text: error.message };
  if (isFileSystemError(error)) return { code: "FileUnreadable", text: error.message };
  // Any other fault comes from the content, and must not keep the agent from the next file.
  return { code: "NothingReadable", text: `${path} cannot be salvaged: ${(error as Error).message}` };
}

interface GivingUp {
  readonly code: SalvageFailure;
  readonly text: string;
  readonly signal: AbortSignal;
}

async function giveUp(ctx: SalvageContext, request: WantedSalvage, { signal, ...why }: GivingUp): Promise<true> {
  const text = why.text.slice(0, 1000).toWellFormed();
  try {
    await ctx.session.call(api.edge.failSalvage, { ...request, code: why.code, text }, { signal });
    ctx.log.warn({ ...request, ...why }, "a salvage was given up");
  } catch (failure) {
    const isOver =
      failure instanceof ApiCallError && (failure.code === "NotFound" || failure.code === "RequestSuperseded");
    if (!isOver) throw failure;
  }
  return true;
}

/** Removes salvages during which the agent was killed. No other file is touched. */
async function removeLeftovers(storage: Storage): Promise<void> {
  for (const id of await namesIn(storage, SALVAGE_DIRECTORY)) {
    const directory = `${SALVAGE_DIRECTORY}/${id}`;
    const partials = (await namesIn(storage, directory)).filter((name) => name.endsWith(PARTIAL));
    for (const name of partials) await rm(`${storage.root}/${directory}/${name}`, { force: true });
  }
}

async function namesIn(storage: Storage, path: string): Promise<string[]> {
  try {
    return (await isInside(storage, path)) ? await readdir(`${storage.root}/${path}`) : [];
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}
