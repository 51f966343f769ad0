// A round compares the marks in the store with the database and writes the next mark. Any number of processes may do this at the same time:
// each raises the sequence before it writes, and a confirmation counts from the time at which its marks were listed, so that a process that
// was suspended for an hour confirms nothing about the present. No lock is held during calls to the store, because a suspended process would
// then block all others.

import type { Clock } from "../core/clock.ts";
import type { Database } from "../db/client.ts";
import { type Transaction, withTransaction } from "../db/transaction.ts";
import type { NoteStore } from "../store/blobs/notes.ts";
import { openIncarnation } from "./incarnations.ts";
import { judgeMarks, type Known, type Verdict } from "./judge-marks.ts";
import { type Mark, MarkNotes, nameDeployment, newMarkName } from "./marks.ts";
import { postgresNow, postgresStanding } from "./postgres-sql.ts";

export interface MarkDeps {
  readonly db: Pick<Database, "prisma">;
  readonly blobs: NoteStore;
  readonly clock: Clock;
  readonly log: { info(details: object, message: string): void; warn(details: object, message: string): void };
}

export interface RoundDeps extends MarkDeps {
  readonly marks: MarkNotes;
  /** Finds something that was written to the store after `sinceMs` and that the database does not have; undefined if it has everything. */
  readonly findLost: (sinceMs: number) => Promise<string | undefined>;
}

/** If another incarnation still writes marks so soon after this one was opened, there are two databases. */
const NEW = 3_600_000_000_000n;
const DAY_MS = 86_400_000;
const MAX_ATTEMPTS = 5;

/** The contents of the rows of deployment and mark at one moment. */
export interface MarkStanding {
  readonly incarnation: string;
  readonly ancestors: string[];
  readonly signingKey: string;
  readonly sequence: bigint;
  readonly openedSequence: bigint;
  readonly openedAtNs: bigint | null;
  readonly confirmed: string | null;
  readonly confirmedAtNs: bigint | null;
  readonly conflict: string | null;
  /** The Postgres that was last compared with the store; null if none was yet. */
  readonly postgres: string | null;
  readonly postgresNow: string;
  /** The time by the clock of Postgres. */
  readonly nowNs: bigint;
}

export async function readMarkStanding(tx: Transaction): Promise<MarkStanding> {
  const [standing] = await tx.$queryRaw<[MarkStanding]>`
    SELECT d.incarnation, d.ancestors, d."signingKey", d.conflict, m.sequence, m."openedSequence", m."openedAtNs", m.confirmed,
      m."confirmedAtNs", m.postgres, ${postgresStanding} AS "postgresNow", ${postgresNow} AS "nowNs"
    FROM "Deployment" d JOIN "DeploymentMark" m ON m.id = 1 WHERE d.id = 1`;
  return standing;
}

/**
 * Compares the marks, and writes and confirms the next one. If Postgres is not the one that was compared last, the manifests are searched,
 * too. Throws a {@link WrongStoreError} if the store is not the one that the database knows, and then writes no mark.
 */
export async function goMarkRound(deps: RoundDeps): Promise<void> {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const before = await readMarkStanding(deps.db.prisma);
    const written = await compare(deps, before);
    if (!written) continue; // another process opened an incarnation meanwhile
    await confirm(deps, written, before.nowNs);
    if (before.postgres === before.postgresNow || (await isSamePast(deps, before, written)))
      return await deps.marks.trim();
  }
}

/** Judges the marks as the next round does, and changes nothing. */
export async function judgeStore({ db, blobs }: Pick<MarkDeps, "db" | "blobs">): Promise<Verdict> {
  for (;;) {
    const before = await readMarkStanding(db.prisma);
    const marks = await new MarkNotes(blobs).list();
    const now = await readMarkStanding(db.prisma);
    if (now.incarnation === before.incarnation) return judgeMarks(marks, toKnown(now), before.confirmed);
  }
}

/** Returns the number of the mark to write; undefined if another process opened an incarnation since the marks were listed. */
async function compare(deps: RoundDeps, before: MarkStanding): Promise<bigint | undefined> {
  const marks = await deps.marks.list();
  const settle = (mayOpen: boolean) =>
    withTransaction(deps.db, (tx) => settleMarks(tx, { deps, before, marks, mayOpen }));
  let settled = await settle(false);
  if (settled.verdict?.kind === "open") settled = await settle(true);
  if (settled.verdict?.kind === "stop") throw new WrongStoreError(settled.verdict.reason);
  return settled.sequence;
}

interface Settling {
  readonly deps: MarkDeps;
  readonly before: MarkStanding;
  readonly marks: readonly Mark[];
  /** If false, only the confirmation is withdrawn, so that nothing new is destroyed while the opening waits for its locks. */
  readonly mayOpen: boolean;
}

interface Settled {
  readonly verdict?: Verdict;
  /** The number of the mark that may be written. */
  readonly sequence?: bigint;
}

async function settleMarks(tx: Transaction, { deps, before, marks, mayOpen }: Settling): Promise<Settled> {
  await tx.$queryRaw`SELECT id FROM "DeploymentMark" WHERE id = 1 FOR UPDATE`;
  const now = await readMarkStanding(tx);
  if (now.incarnation !== before.incarnation) return {};
  const verdict = judgeMarks(marks, toKnown(now), before.confirmed);
  if (verdict.kind === "fine") return { verdict, sequence: await raise(tx, marks) };
  if (verdict.kind === "conflict") {
    if (now.conflict !== verdict.reason)
      await tx.deployment.update({ where: { id: 1 }, data: { conflict: verdict.reason } });
    deps.log.warn({ reason: verdict.reason }, "nothing is destroyed any more");
    return { verdict, sequence: await raise(tx, marks) };
  }
  await tx.deploymentMark.update({ where: { id: 1 }, data: { confirmedAtNs: null } });
  if (verdict.kind !== "open" || !mayOpen) return { verdict };
  deps.log.warn({ reason: verdict.reason }, "opens another incarnation, which recovers");
  const { reason, others } = verdict;
  await openIncarnation(tx, { reason, others, nowNs: deps.clock.nowNs(), lastSequence: lastOf(marks) });
  return {};
}

function toKnown({ signingKey, openedAtNs, nowNs, conflict, ...standing }: MarkStanding): Known {
  const isNew = conflict !== null || (openedAtNs !== null && nowNs - openedAtNs < NEW);
  return { ...standing, deployment: nameDeployment(signingKey), isNew };
}

/** The number is committed before its mark is written, so a mark with a higher number shows that the database was set back. */
async function raise(tx: Transaction, marks: readonly Mark[]): Promise<bigint> {
  const [{ sequence }] = await tx.$queryRaw<[{ sequence: bigint }]>`
    UPDATE "DeploymentMark" SET sequence = greatest(sequence, ${lastOf(marks)}) + 1 WHERE id = 1 RETURNING sequence`;
  return sequence;
}

export function lastOf(marks: readonly Mark[]): bigint {
  return marks[0]?.sequence ?? 0n;
}

async function confirm({ db, marks }: RoundDeps, sequence: bigint, listedAtNs: bigint): Promise<void> {
  const { incarnation, ancestors, signingKey, postgresNow: postgres } = await readMarkStanding(db.prisma);
  const [{ systemIdentifier }] = await db.prisma.$queryRaw<[{ systemIdentifier: string }]>`
    SELECT system_identifier::text AS "systemIdentifier" FROM pg_control_system()`;
  const name = newMarkName(sequence);
  const deployment = nameDeployment(signingKey);
  await marks.write(name, { deployment, incarnation, ancestors, systemIdentifier, postgres });
  await db.prisma.$executeRaw`
    UPDATE "DeploymentMark" SET confirmed = ${name}, "confirmedAtNs" = ${listedAtNs} WHERE id = 1 AND sequence >= ${sequence}
      AND "openedSequence" < ${sequence} AND (confirmed IS NULL OR confirmed COLLATE "C" < ${name})
      AND EXISTS (SELECT FROM "Deployment" WHERE id = 1 AND incarnation = ${incarnation})`;
}

/**
 * Called when Postgres was restarted or is another one, which may have been set back to less than a minute ago, so that no mark shows it.
 * If the store has an upload or an entry of the ledger from the last day before the mark, or later, that the database lacks, this opens an incarnation and returns
 * false.
 */
async function isSamePast(
  { db, clock, log, findLost }: RoundDeps,
  before: MarkStanding,
  lastSequence: bigint,
): Promise<boolean> {
  const sinceMs = Number((before.confirmedAtNs ?? before.nowNs) / 1_000_000n) - DAY_MS;
  const lost = before.postgres === null ? undefined : await findLost(sinceMs);
  return await withTransaction(db, async (tx) => {
    await tx.$queryRaw`SELECT id FROM "DeploymentMark" WHERE id = 1 FOR UPDATE`;
    if (lost !== undefined) {
      const reason = `the database lacks ${lost}, which the object store has: it was restored from a backup`;
      log.warn({ reason }, "opens another incarnation, which recovers");
      await openIncarnation(tx, { reason, nowNs: clock.nowNs(), lastSequence });
    }
    await tx.deploymentMark.update({ where: { id: 1 }, data: { postgres: before.postgresNow } });
    return lost === undefined;
  });
}

/** The store is not the one that the database knows. */
export class WrongStoreError extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = "WrongStoreError";
  }
}
