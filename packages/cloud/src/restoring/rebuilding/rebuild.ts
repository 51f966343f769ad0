// A database that was lost is made again of the object store alone, in two steps. The first one is one transaction: it makes the
// organizations, which nothing else would make, and opens an incarnation that recovers. The second one is the walk of every recovery, which
// repeats the ledger and makes the recordings. It may be killed at any time: the same command goes on, and so does a worker.

import { setTimeout as delay } from "node:timers/promises";
import type { Deps } from "../../calls/context/context.ts";
import { CommandError } from "../../core/command-error.ts";
import { type Transaction, withTransaction } from "../../db/transaction.ts";
import { openSession } from "../../keeping/integrity/listed-objects.ts";
import { type Mark, MarkNotes } from "../../recovery/marks.ts";
import { takeStore } from "../adoption/recover-by-hand.ts";
import { walkStore } from "../adoption/walk.ts";
import { replayLedger } from "../replay/replay-ledger.ts";
import { countOutcomes, describeStore, findOrganizations } from "./describe-store.ts";
import { makeOrganizations } from "./make-organizations.ts";
import { readStore } from "./read-store.ts";

type RebuildDeps = Pick<Deps, "db" | "blobs" | "jobs" | "clock" | "log" | "credentials">;

interface Rebuilding {
  /** False: only what would be made is written. */
  readonly isDoing: boolean;
  readonly write: (line: string) => void;
  readonly signal: AbortSignal;
}

const REASON = "the database was lost, and is made again of the object store";
/** A control plane that works writes a mark more often than this. */
const QUIET_MS = 120_000;
const LOOK_MS = 3000;

/**
 * Makes the database again of what the store says. Throws a CommandError if the database has recordings, if the store has none, or if
 * another control plane uses the store.
 */
export async function rebuild(deps: RebuildDeps, { isDoing, write, signal }: Rebuilding): Promise<void> {
  if (!(await isUnderWay(deps.db.prisma))) {
    await requireEmpty(deps.db.prisma);
    await using session = await openSession(deps.db.pool);
    await readStore(session, deps.blobs, signal);
    for await (const line of describeStore(session)) write(line);
    if (!isDoing) return write("nothing was changed; downlink admin recovery --from-store --yes makes them");
    const { imported, waiting } = await countOutcomes(session);
    if (imported + waiting === 0)
      throw new CommandError("the object store has nothing of which recordings can be made");
    const organizations = await findOrganizations(session);
    const marks = await requireQuiet(deps, { write, signal });
    await withTransaction(deps.db, async (tx) => {
      await requireEmpty(tx);
      await makeOrganizations(tx, organizations);
      const operation = "recovery --from-store";
      await takeStore(tx, { marks, operation, reason: REASON, nowNs: deps.clock.nowNs() });
    });
  } else if (!isDoing) return write("it was begun before: downlink admin recovery --from-store --yes goes on with it");
  await walkToItsEnd(deps, signal);
  await describeKeys(deps, write);
}

async function isUnderWay(db: Pick<Transaction, "deployment">): Promise<boolean> {
  return (await db.deployment.count({ where: { id: 1, recoveringReason: REASON } })) > 0;
}

/** The rows of a database are worth more than what the store says of them. */
async function requireEmpty(db: Pick<Transaction, "recording" | "importRequest">): Promise<void> {
  if ((await db.recording.count({ take: 1 })) + (await db.importRequest.count({ take: 1 })) === 0) return;
  throw new CommandError(
    "this database has recordings or imports, and --from-store is for one that has none; --accept-store compares it with the object store",
  );
}

/**
 * Returns the marks of the store, once no other control plane has written one for two minutes. Two databases over one store would destroy
 * what the other one has.
 */
async function requireQuiet(
  { db, blobs, clock }: RebuildDeps,
  { write, signal }: Pick<Rebuilding, "write" | "signal">,
) {
  const { incarnation } = await db.prisma.deployment.findUniqueOrThrow({ where: { id: 1 } });
  const marks = new MarkNotes(blobs);
  const findNewest = async () => (await marks.list()).find((mark: Mark) => mark.incarnation !== incarnation);
  const newest = await findNewest();
  const ageMs = newest ? Number(clock.nowNs() / 1_000_000n) - (await writtenAtMs(blobs, newest)) : QUIET_MS;
  if (ageMs < QUIET_MS) {
    write("waiting for up to two minutes, to see that no other control plane uses the object store");
    await delay(Math.min(QUIET_MS, QUIET_MS - ageMs), undefined, { signal });
  }
  if ((await findNewest())?.name !== newest?.name)
    throw new CommandError("another control plane uses the object store at this moment; stop it first");
  return marks.list();
}

async function writtenAtMs(blobs: Deps["blobs"], { name }: Mark): Promise<number> {
  for await (const { modifiedAtMs } of blobs.listNotes(`marks/${name}`)) return modifiedAtMs;
  return 0;
}

/** A worker of this deployment may have taken the walk, or a process that was killed a moment ago: then its end is waited for. */
async function walkToItsEnd(deps: RebuildDeps, signal: AbortSignal): Promise<void> {
  const { prisma } = deps.db;
  for (;;) {
    await walkStore({ ...deps, replayLedger: (stopped) => replayLedger(deps, stopped) }, signal);
    if (!(await isUnderWay(prisma)) || (await prisma.adoption.count({ where: { pass: "asking" } })) > 0) return;
    await delay(LOOK_MS, undefined, { signal });
  }
}

async function describeKeys({ db }: RebuildDeps, write: (line: string) => void): Promise<void> {
  const found = await db.prisma.organization.findMany({
    select: { id: true, name: true, _count: { select: { apiKeys: true } } },
    orderBy: { createdAtNs: "asc" },
  });
  for (const { id, name, _count: has } of found)
    write(`organization ${name} has ${has.apiKeys} API keys; another one: downlink admin keys ${id} --create admin`);
  write("start Downlink: it reads the stored bytes again, and after that the recordings have their topics");
}
