import { lstat } from "node:fs/promises";
import { basename, join } from "node:path";
import { lookAt, openTracked, type Storage } from "../files/open-tracked.ts";
import { systemPath } from "../files/path-text.ts";
import { TRASH_NAME } from "../files/scan.ts";
import { hashHeadAndTail } from "../indexing/head-tail.ts";
import { identityOf, isSameContentHolder, isSameIdentity } from "../inventory/identity.ts";
import type { Inventory } from "../inventory/inventory.ts";
import type { TrackedFile } from "../inventory/tracked-file.ts";
import { PROBE_NAME } from "./change-probe.ts";
import { findTrash, listTrash, originalName, restore, statIfThere } from "./trash.ts";

interface Settling {
  readonly inventory: Inventory;
  readonly storage: Storage;
  /** Looks for the enrolled root now. */
  readonly isRootThere: () => Promise<boolean>;
  /** The wall time. */
  readonly nowNs: bigint;
}

/**
 * Ends all deletions that were begun, wherever a crash or a check stopped them: files in the trash go back to their places, files
 * that are gone under a permit are recorded as deleted, all others stay. Whatever is still to be deleted is planned again.
 */
export async function settleIntents(ctx: Settling): Promise<void> {
  for (const { versionId } of ctx.inventory.intents()) {
    const file = ctx.inventory.version(versionId);
    if (file) await settleIntent(ctx, file);
  }
  for (const entry of await listTrash(join(ctx.storage.root, TRASH_NAME)))
    if (basename(entry) !== PROBE_NAME) await putBack(ctx, entry);
}

export async function settleIntent(ctx: Settling, file: TrackedFile): Promise<void> {
  const { inventory, storage, nowNs } = ctx;
  const { versionId, path } = file;
  const isPermitted = inventory.intents().some((one) => one.versionId === versionId && one.permitId !== undefined);
  const { entry } = await findTrash(storage.root, file);
  if (await statIfThere(entry)) await putBackAt(ctx, file, entry);
  else if (!(await statIfThere(systemPath(storage.root, path)))) {
    if (!(await ctx.isRootThere())) return; // While the root is away, a missing file says nothing.
    if (isPermitted) inventory.change([{ do: "noteDeleted", versionId, atNs: nowNs }]);
  } else if (isPermitted) {
    await takeBack(ctx, file);
  }
  inventory.change([{ do: "keep", versionId }]);
}

/**
 * The file is at its path. Perhaps it came back from the trash, which changes its ctime like every change, so head and
 * tail must agree. The cloud may have taken the file for gone, so it is reported again.
 */
async function takeBack({ inventory, storage }: Settling, { versionId, path, identity }: TrackedFile): Promise<void> {
  const there = await lookAt(storage, path);
  if (!there || !isSameContentHolder(there, identity)) return;
  if (!isSameIdentity(there, identity)) {
    await using source = await openTracked(storage, path, there);
    if ((await hashHeadAndTail(source)) !== inventory.findings(versionId)?.headTailSha256) return;
  }
  inventory.change([{ do: "move", versionId, path, identity: there }]);
}

/** Puts back a file that is in the trash without an intent: the state was lost, or the file was requested at the last moment. */
async function putBack(ctx: Settling, entry: string): Promise<void> {
  const file = ctx.inventory.version(basename(entry).split(".")[0]!);
  if (file) await putBackAt(ctx, file, entry);
  else await restore(entry, ctx.storage.root, originalName(entry));
}

/** Puts the file back, beside whatever is in its place by now. It stays the same version, because only the agent had moved it. */
async function putBackAt(
  { inventory, storage }: Settling,
  { versionId, path, identity }: TrackedFile,
  entry: string,
): Promise<void> {
  const place = await restore(entry, storage.root, path);
  const restored = identityOf(await lstat(systemPath(storage.root, place), { bigint: true }), storage.device);
  if (!isSameContentHolder(restored, identity)) return;
  inventory.change([{ do: "move", versionId, path: place, identity: restored }]);
}
