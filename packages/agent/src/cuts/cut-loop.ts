import { rm, rmdir } from "node:fs/promises";
import { api, CUT_RECORD_NAME, type CutFailure, type WantedCut } from "@downlink/protocol";
import { CUT_DIRECTORY, isMadePath, PARTIAL } from "../files/made-path.ts";
import { isMissing, lookAt, type Storage } from "../files/open-tracked.ts";
import type { FileState } from "../inventory/file-state.ts";
import { isSameIdentity } from "../inventory/identity.ts";
import type { Inventory } from "../inventory/inventory.ts";
import { lifeOf, type TrackedFile } from "../inventory/tracked-file.ts";
import type { WakeSignal } from "../loops/wake-signal.ts";
import { type Making, type MakingContext, makeFiles, namesIn } from "../making/make-files.ts";
import { MadeEmptyError } from "../making/write-made-file.ts";
import { writeCut } from "./write-cut.ts";

export interface CutContext extends MakingContext {
  readonly cutSignal: WakeSignal;
}

/** Files that are whole recordings. */
const WHOLE: ReadonlySet<FileState> = new Set([
  ...(["indexed", "reported", "requested", "uploading", "stored", "imported", "failed", "duplicate"] as const),
]);

/** Makes one cut after the other, as long as they are wanted, and removes those that are wanted no more, until aborted. */
export async function runCuts(ctx: CutContext, signal: AbortSignal): Promise<void> {
  const { session, board, inventory, cutSignal: woken } = ctx;
  const making: Making<WantedCut, CutFailure> = {
    ...{ examination: "cut", woken, made: "a part of a file was cut" },
    codes: {
      ...({ gone: "FileGone", unreadable: "FileUnreadable", broken: "FileUnreadable" } as const),
      ...({ nothing: "EmptyCut", noRoom: "CutNoSpace" } as const),
    },
    wanted: () => (board.settings()?.enabled ? (board.cuts()?.filter(({ isMade }) => !isMade) ?? []) : []),
    isNothing: (error) => error instanceof MadeEmptyError,
    isReady: ({ state }) => WHOLE.has(state),
    write: (job) => writeCut({ ...job, findings: inventory.findings(job.file.versionId) }),
    giveUp: ({ requestId, versionId }, why, signal) =>
      session.call(api.edge.failCut, { requestId, versionId, ...why }, { signal }),
    clean: (storage) => removeUnwanted(ctx, storage),
  };
  await makeFiles(ctx, making, signal);
}

/**
 * Removes the cuts that the control plane does not want any more, because it has them or because they were cancelled. Nothing is removed before
 * it has said what it wants.
 */
async function removeUnwanted(ctx: CutContext, storage: Storage): Promise<void> {
  const wanted = ctx.board.cuts();
  if (!wanted) return;
  const ids = new Set(wanted.map(({ requestId }) => requestId));
  const unwanted = (await namesIn(storage, CUT_DIRECTORY)).filter((id) => !ids.has(id));
  const counts = await Promise.all(unwanted.map((id) => removeCut(ctx, storage, `${CUT_DIRECTORY}/${id}`)));
  if (counts.some((count) => count > 0)) ctx.scanSignal.notify();
}

/**
 * Removes what the agent wrote into the directory of a cut, and the directory once it is empty. No other file is touched. Returns how many files
 * were removed.
 */
async function removeCut(ctx: CutContext, storage: Storage, directory: string): Promise<number> {
  let count = 0;
  for (const name of await namesIn(storage, directory))
    if (await removeFile(ctx, storage, `${directory}/${name}`)) count += 1;
  await rmdir(`${storage.root}/${directory}`).catch(ignoreKept);
  return count;
}

/** Returns false for a file that the agent did not write, or that has to stay. */
async function removeFile(ctx: CutContext, storage: Storage, path: string): Promise<boolean> {
  if (!path.endsWith(PARTIAL) && !(isMadePath(path) && (await isExpendable(ctx, storage, path)))) return false;
  await rm(`${storage.root}/${path}`, { force: true });
  ctx.log.info({ path }, "a cut that is not wanted any more was removed");
  return true;
}

/** It holds a file that stays, or is none. */
function ignoreKept(error: NodeJS.ErrnoException): void {
  if (!isMissing(error) && error.code !== "ENOTEMPTY") throw error;
}

/**
 * Says whether no byte is lost with a cut: the cloud, which knows all that is here, has imported it, or the file of which it is a part is here.
 * Both are looked at on the disk, because the inventory may be old.
 */
async function isExpendable({ inventory, isListed }: CutContext, storage: Storage, path: string): Promise<boolean> {
  const cut = inventory.at(path);
  if (!cut || !(await isHere(storage, cut))) return false; // the next scan finds it
  if (lifeOf(cut) === "imported" && isListed()) return true;
  const whole = findWhole(inventory, cut);
  return whole !== undefined && (await isHere(storage, whole));
}

async function isHere(storage: Storage, { path, identity }: TrackedFile): Promise<boolean> {
  const there = await lookAt(storage, path);
  return there !== undefined && isSameIdentity(there, identity);
}

/** Finds the file of which a cut is a part, unless it was changed since. */
function findWhole(inventory: Inventory, { versionId }: TrackedFile): TrackedFile | undefined {
  const { item } = inventory.findings(versionId) ?? {};
  if (item === undefined) return undefined;
  const { metadata = [] } = JSON.parse(item) as { metadata?: { name: string; metadata: Record<string, string> }[] };
  const record = metadata.findLast(({ name }) => name === CUT_RECORD_NAME)?.metadata;
  const whole = record?.path === undefined ? undefined : inventory.at(record.path);
  const isSame =
    record?.sizeBytes === `${whole?.identity.sizeBytes}` && record.modifiedAtNs === `${whole?.identity.mtimeNs}`;
  return whole && isSame && WHOLE.has(whole.state) ? whole : undefined;
}
