// The whole store is read again and again, because a disk or a bucket may damage an object that is never asked for. It is read at a rate:
// with the time that passes so many bytes are due that all of them are read in the chosen number of days. The data whose last reading is the
// oldest comes first, whatever read it: this job, the check, or a proof before a device deleted its copy.

import type { Deps } from "../../calls/context/context.ts";
import type { Prisma } from "../../db/generated/client.ts";
import { IS_PROVABLE, READ_AT_NS } from "../../db/stored-data.ts";

const DAY_NS = 86_400_000_000_000n;
/** If so many in a row cannot be read, the store does not answer. */
const MOST_FAILURES = 10;

export interface ScrubDeps extends Pick<Deps, "db" | "clock" | "log" | "metrics" | "scrubDays"> {
  /** Reads the data of a recording, and writes down what is wrong with it. */
  readonly readStored: (reading: { readonly recordingId: string; readonly signal: AbortSignal }) => Promise<unknown>;
}

interface Stored {
  readonly id: string;
  readonly sizeBytes: bigint;
  readonly readAtNs: bigint;
}

/** Reads the stored data that is due. An object that cannot be read is left to the next time. Rejects if the store does not answer. */
export async function scrubStore(deps: ScrubDeps, signal: AbortSignal): Promise<void> {
  const { db, clock, log, metrics, readStored } = deps;
  if (deps.scrubDays === 0) return;
  const nowNs = clock.nowNs();
  let dueBytes = await addDue(deps, nowNs);
  let failures = 0;
  for (let last: Stored | undefined; dueBytes > 0n; ) {
    last = await findNext(db, { after: last, beforeNs: nowNs - DAY_NS });
    if (!last) return;
    const { id: recordingId, sizeBytes } = last;
    try {
      await readStored({ recordingId, signal });
    } catch (error) {
      signal.throwIfAborted();
      if (++failures === MOST_FAILURES) throw error;
      log.error({ err: error, recordingId }, "the stored data of a recording cannot be read; it is tried again");
      continue;
    }
    failures = 0;
    metrics.scrubbedBytes.inc(Number(sizeBytes));
    dueBytes -= sizeBytes;
    await saveDue(db, { scrubDueBytes: dueBytes });
  }
}

/** Adds to the bytes that are due what falls to the time since the last turn. A worker that was away makes up for a day at most. */
async function addDue({ db, scrubDays }: Pick<ScrubDeps, "db" | "scrubDays">, nowNs: bigint): Promise<bigint> {
  const period = BigInt(scrubDays) * DAY_NS;
  const before = await db.prisma.deployment.findUniqueOrThrow({ where: { id: 1 } });
  const [{ totalBytes }] = await db.prisma.$queryRaw<[{ totalBytes: bigint }]>`
    SELECT coalesce(sum("sizeBytes"), 0)::int8 AS "totalBytes" FROM "Recording" WHERE ${IS_PROVABLE}`;
  const passedNs = smaller(nowNs - (before.scrubbedAtNs ?? nowNs), DAY_NS);
  const dueBytes = before.scrubDueBytes + (totalBytes * passedNs) / period;
  const mostDue = smaller(dueBytes, (totalBytes * DAY_NS) / period);
  await saveDue(db, { scrubDueBytes: mostDue, scrubbedAtNs: nowNs });
  return mostDue;
}

async function saveDue(db: ScrubDeps["db"], data: Prisma.DeploymentUpdateInput): Promise<void> {
  await db.prisma.deployment.update({ where: { id: 1 }, data });
}

function smaller(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}

interface Place {
  readonly after: Stored | undefined;
  readonly beforeNs: bigint;
}

/** Returns the data that is to be read next; undefined if all of it was read a short while ago. */
async function findNext({ prisma }: ScrubDeps["db"], { after, beforeNs }: Place): Promise<Stored | undefined> {
  const [afterNs, afterId] = [after?.readAtNs ?? -1n, after?.id ?? ""];
  const [next] = await prisma.$queryRaw<Stored[]>`
    SELECT id, "sizeBytes", ${READ_AT_NS} AS "readAtNs" FROM "Recording"
    WHERE ${IS_PROVABLE} AND (${READ_AT_NS}, id) > (${afterNs}::int8, ${afterId}) AND ${READ_AT_NS} < ${beforeNs}::int8
    ORDER BY ${READ_AT_NS}, id LIMIT 1`;
  return next;
}
