import type { Database } from "../db/client.ts";
import type { Finding, SweepDeps } from "./sweep-objects.ts";

interface Holder {
  readonly id: string;
  readonly blobKey: string;
  /** Null where it is not known. */
  readonly sizeBytes: bigint | null;
}

type Prisma = Database["prisma"];
type FindHolders = (prisma: Prisma, where: { id: { gt?: string; in?: string[] } }) => Promise<Holder[]>;

const PAGE = 100;
const select = { id: true, blobKey: true, sizeBytes: true } as const;
const inOrder = { orderBy: { id: "asc" }, take: PAGE } as const;

/** Every table whose rows promise that an object is there. */
const holders: Record<string, FindHolders> = {
  recording: (prisma, where) =>
    prisma.recording.findMany({ where: { ...where, blobKey: { not: null } }, select, ...inOrder }) as Promise<Holder[]>,
  "import request": (prisma, where) =>
    prisma.importRequest.findMany({ where: { ...where, blobKey: { not: null } }, select, ...inOrder }) as Promise<
      Holder[]
    >,
  "extension version": (prisma, where) => prisma.extensionVersion.findMany({ where, select, ...inOrder }),
};

/** Rows whose object is not there, or not of their size. Told, never touched: the object may come back from a backup. */
export async function* findMissing(deps: SweepDeps): AsyncGenerator<Finding, void> {
  for (const [kind, find] of Object.entries(holders)) {
    let page = await find(deps.db.prisma, { id: { gt: "" } });
    while (page.length > 0) {
      const faults = await Promise.all(page.map((holder) => findFault(deps, holder, find)));
      for (const [index, { id, blobKey: key, sizeBytes }] of page.entries())
        if (faults[index])
          yield {
            outcome: "missing",
            key,
            sizeBytes: Number(sizeBytes ?? 0),
            reason: `${faults[index]}; ${kind} ${id} needs it`,
          };
      page = await find(deps.db.prisma, { id: { gt: page.at(-1)!.id } });
    }
  }
}

/** The row is asked again after the store, because a row goes before its object does. */
async function findFault({ db, blobs }: SweepDeps, holder: Holder, find: FindHolders): Promise<string | undefined> {
  const object = await blobs.stat(holder.blobKey);
  if (object && (holder.sizeBytes === null || BigInt(object.sizeBytes) === holder.sizeBytes)) return undefined;
  const [now] = await find(db.prisma, { id: { in: [holder.id] } });
  if (now?.blobKey !== holder.blobKey || now.sizeBytes !== holder.sizeBytes) return undefined;
  return object ? `the object has ${object.sizeBytes} bytes instead of ${holder.sizeBytes}` : "the object is not there";
}
