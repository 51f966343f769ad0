import { pacePages } from "../../core/pace.ts";
import type { Database } from "../../db/client.ts";
import { markDamaged } from "../../import-life/mark-damaged.ts";
import type { StoredDamage } from "../../import-life/stored-damage.ts";
import { ofOurStore } from "../../store/blobs/object-key.ts";
import type { Finding, SweepDeps } from "./sweep-objects.ts";

interface Holder {
  readonly id: string;
  readonly blobKey: string;
  /** Null if the size is not known. */
  readonly sizeBytes: bigint | null;
}

type Prisma = Database["prisma"];
type FindHolders = (prisma: Prisma, where: { id: { gt?: string; in?: string[] } }) => Promise<Holder[]>;

const PAGE = 100;
const select = { id: true, blobKey: true, sizeBytes: true } as const;
const inOrder = { orderBy: { id: "asc" }, take: PAGE } as const;

const RECORDING = "recording";

/** Every table whose rows promise that an object exists. */
const holders: Record<string, FindHolders> = {
  [RECORDING]: (prisma, where) =>
    prisma.recording.findMany({ where: { ...where, ...ofOurStore }, select, ...inOrder }) as Promise<Holder[]>,
  "import request": (prisma, where) =>
    prisma.importRequest.findMany({ where: { ...where, ...ofOurStore }, select, ...inOrder }) as Promise<Holder[]>,
  "extension version": (prisma, where) => prisma.extensionVersion.findMany({ where, select, ...inOrder }),
};

/**
 * Finds rows whose object does not exist or has another size. A recording is marked as
 * damaged, and keeps what it knew of the object, which may come back from a backup.
 */
export async function* findMissing(deps: SweepDeps, signal?: AbortSignal): AsyncGenerator<Finding, void> {
  for (const [kind, find] of Object.entries(holders))
    for await (const page of pacePages(compareAll(deps, find), signal)) {
      signal?.throwIfAborted();
      for (const { holder, fault } of page) {
        if (fault === undefined) continue;
        if (kind === RECORDING) await markDamaged(deps, holder.blobKey, fault.damage);
        yield {
          outcome: "missing",
          key: holder.blobKey,
          sizeBytes: Number(holder.sizeBytes ?? 0),
          reason: `${fault.text}; ${kind} ${holder.id} needs it`,
        };
      }
    }
}

/** Yields the rows of a table, a page at a time, and what is wrong with the object of each. */
async function* compareAll(deps: SweepDeps, find: FindHolders) {
  for (let after = ""; ; ) {
    const page = await find(deps.db.prisma, { id: { gt: after } });
    if (page.length === 0) return;
    yield await Promise.all(page.map(async (holder) => ({ holder, fault: await findFault(deps, holder, find) })));
    after = page.at(-1)!.id;
  }
}

interface Fault {
  readonly damage: StoredDamage;
  readonly text: string;
}

/** The row is read again after the store, because a row is deleted before its object. */
async function findFault({ db, blobs }: SweepDeps, holder: Holder, find: FindHolders): Promise<Fault | undefined> {
  const object = await blobs.stat(holder.blobKey);
  if (object && (holder.sizeBytes === null || BigInt(object.sizeBytes) === holder.sizeBytes)) return undefined;
  const [now] = await find(db.prisma, { id: { in: [holder.id] } });
  if (now?.blobKey !== holder.blobKey || now.sizeBytes !== holder.sizeBytes) return undefined;
  if (!object) return { damage: "missing", text: "the object is not there" };
  return { damage: "truncated", text: `the object has ${object.sizeBytes} bytes instead of ${holder.sizeBytes}` };
}
