import { isDeepStrictEqual } from "node:util";
import { type FileHash, hashFile } from "../files/hash-file.ts";
import { checkUnmoved, openTracked, type Storage } from "../files/open-tracked.ts";
import { examineFile, type Verdict } from "../indexing/examine-file.ts";
import { nextState } from "../inventory/file-state.ts";
import type { Inventory } from "../inventory/inventory.ts";
import type { Findings, TrackedFile } from "../inventory/tracked-file.ts";
import type { Clock } from "../system/clock.ts";
import type { Recheck } from "./recheck-board.ts";

export interface RecheckOptions {
  readonly inventory: Inventory;
  readonly clock: Clock;
  readonly storage: Storage;
  readonly signal: AbortSignal;
}

/** The result of a comparison, with the hash of the file where all of it was read. */
export interface Comparison {
  readonly isSame: boolean;
  readonly hash?: FileHash;
}

/**
 * Returns whether the file at the path is still the known version. A hash decides wherever one is known. Where none is known, the cloud
 * stores nothing of the file; if it holds parts, the upload reads each of them again before it goes on. Throws `FileMovedError` when the
 * file changes meanwhile, what reading throws, and the signal's reason.
 */
export async function recheckFile(file: TrackedFile, recheck: Recheck, options: RecheckOptions): Promise<Comparison> {
  const { by, identity, isRestless, path } = recheck;
  if (isRestless || by === "nothing") return { isSame: false };
  if (by === "ends") return { isSame: await hasSameEnds({ ...file, identity }, options) };
  const hash = await hashFile({ path, identity }, options);
  return { isSame: hash.sha256 === options.inventory.contentHash(file.versionId), hash };
}

async function hasSameEnds(file: TrackedFile, { inventory, storage, signal }: RecheckOptions): Promise<boolean> {
  const { path, identity } = file;
  const known = inventory.findings(file.versionId);
  await using source = await openTracked(storage, path, identity);
  const verdict = await examineFile(file, source, { signal, isOverdue: true });
  await checkUnmoved(storage, { source, path, identity });
  return known !== undefined && isSameVerdict(file, known, verdict);
}

function isSameVerdict({ state }: TrackedFile, known: Findings, { event, findings }: Verdict): boolean {
  if (known.headTailSha256 !== findings?.headTailSha256) return false;
  if (known.item === undefined) return nextState("seen", event) === state;
  return findings.item !== undefined && isDeepStrictEqual(summaryOf(known.item), summaryOf(findings.item));
}

/** Leaves out path and time: the file may have been renamed and touched since it was indexed. */
function summaryOf(item: string): unknown {
  const { versionId: _id, path: _path, size: _size, modifiedAt: _time, ...summary } = JSON.parse(item);
  return summary;
}
