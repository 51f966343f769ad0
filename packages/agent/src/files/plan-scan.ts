import { isBeforeIndexing } from "../inventory/file-state.ts";
import { contentHolderKey, type FileIdentity, isSameContentHolder, isSameIdentity } from "../inventory/identity.ts";
import type { Inventory } from "../inventory/inventory.ts";
import type { InventoryStep, TrackedFile } from "../inventory/tracked-file.ts";
import type { Scan } from "./scan.ts";

/** A file that seems to be at another path now. */
export interface Move {
  readonly file: TrackedFile;
  readonly path: string;
  readonly identity: FileIdentity;
}

/** A file at a known path: only its content can show whether it is the known version. */
export interface Suspect {
  readonly file: TrackedFile;
  /** The identity of what is at the path now: it has the same size, but another time or inode, or only another ctime. */
  readonly identity: FileIdentity;
}

export interface ScanPlan {
  /** Steps for files that went or changed. They are applied before the moves. */
  readonly steps: readonly InventoryStep[];
  readonly moves: readonly Move[];
  /** Steps for new files. They are applied after the moves. */
  readonly appeared: readonly Extract<InventoryStep, { do: "track" }>[];
  /** These files stay as they are known until their content was read. */
  readonly suspects: readonly Suspect[];
  /** Versions that were not found this time. The next plan needs them. */
  readonly absent: ReadonlySet<string>;
}

/** Files that the inventory knew already carry the number of the scan and are not in `files`. */
export type FinishedScan = Pick<Scan, "files" | "listed" | "unknown"> & { readonly number: number };
type Known = Pick<Inventory, "files" | "at">;

/**
 * Plans the changes that a scan means for the inventory. A file is gone when two scans in a row did not find it, because one may miss a
 * file that is renamed meanwhile. A rename shows as the same device, inode, size and mtime at a new path. Another size is another version;
 * otherwise the content decides.
 */
export function planScan(known: Known, scan: FinishedScan, absentBefore: ReadonlySet<string>): ScanPlan {
  const missing = known.files().filter(isMissingIn(scan)).toArray();
  const found = planFound(known, scan, missing);
  const movedIds = new Set(found.moves.map(({ file }) => file.versionId));
  const unfound = missing.filter(({ versionId }) => !movedIds.has(versionId));
  const gone = unfound.filter(({ versionId }) => absentBefore.has(versionId));
  const absent = unfound.filter(({ versionId }) => !absentBefore.has(versionId));
  const { moves, appeared, suspects } = found;
  return {
    ...{ moves, appeared, suspects },
    steps: [...found.steps, ...gone.map((file) => eventOn(file, "vanished"))],
    absent: new Set(absent.map(({ versionId }) => versionId)),
  };
}

/** Only the executor of a deletion decides about its file, and a scan says nothing about a file on a card that is out. */
function isMissingIn(scan: FinishedScan): (file: TrackedFile) => boolean {
  return ({ path, state, foundIn }) =>
    state !== "deleting" &&
    state !== "away" &&
    foundIn !== scan.number &&
    !scan.files.has(path) &&
    isAbsent(path, scan);
}

/** The plan for the files that were found. `movable` holds the missing files, which may have moved to one of their paths. */
interface FoundFiles {
  readonly movable: Map<string, TrackedFile>;
  readonly steps: InventoryStep[];
  readonly moves: Move[];
  readonly appeared: ScanPlan["appeared"][number][];
  readonly suspects: Suspect[];
}

interface Found {
  readonly path: string;
  readonly identity: FileIdentity;
}

function planFound(known: Known, scan: FinishedScan, missing: readonly TrackedFile[]): FoundFiles {
  const movable = new Map(missing.map((file) => [contentHolderKey(file.identity), file]));
  const plan: FoundFiles = { movable, steps: [], moves: [], appeared: [], suspects: [] };
  for (const [path, identity] of scan.files) {
    const file = known.at(path);
    if (!file) planNew(plan, { path, identity });
    else if (file.state !== "deleting" && !isSameIdentity(file.identity, identity))
      planChanged(plan, file, { path, identity });
  }
  return plan;
}

function planNew(plan: FoundFiles, found: Found): void {
  if (!planMove(plan, found)) plan.appeared.push({ do: "track", ...found });
}

/** The file at a known path has another identity than the known one. */
function planChanged(plan: FoundFiles, file: TrackedFile, found: Found): void {
  const { path, identity } = found;
  if (isSuspect(file, identity) && isSameContentHolder(file.identity, identity)) plan.suspects.push({ file, identity });
  else if (planMove(plan, found)) plan.steps.push(eventOn(file, "vanished"));
  else if (isSuspect(file, identity)) plan.suspects.push({ file, identity });
  else {
    plan.steps.push({ ...eventOn(file, "changed"), identity });
    if (!isBeforeIndexing(file.state)) plan.appeared.push({ do: "track", path, identity });
  }
}

/** False where no missing file looks like what was found. */
function planMove({ movable, moves }: FoundFiles, { path, identity }: Found): boolean {
  const key = contentHolderKey(identity);
  const file = movable.get(key);
  if (!file) return false;
  movable.delete(key);
  moves.push({ file, path, identity });
  return true;
}

/** Another size is another version; with the same size only the content can show whether it is one. */
function isSuspect(file: TrackedFile, identity: FileIdentity): boolean {
  return !isBeforeIndexing(file.state) && file.identity.sizeBytes === identity.sizeBytes;
}

function eventOn({ versionId, identity }: TrackedFile, event: "changed" | "vanished") {
  return { do: "event", versionId, event, was: identity } as const;
}

/** True when a directory above was listed and the way down to the file was not in it. */
export function isAbsent(path: string, { listed, unknown }: Pick<Scan, "listed" | "unknown">): boolean {
  for (let at = path; ; at = parentOf(at)) {
    if (unknown.has(at)) return false;
    if (at !== path && listed.has(at)) return true;
    if (at === "") return false;
  }
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}
