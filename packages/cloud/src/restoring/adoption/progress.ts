import type { AdoptionModel } from "../../db/generated/models.ts";
import { type Transaction, withTransaction } from "../../db/transaction.ts";
import { LIVE_NS } from "../../imports/ingest/attempt.ts";
import { type AdoptionEvent, nextPass } from "../../recovery/adoption-pass.ts";
import { endRecovery } from "../../recovery/incarnations.ts";
import type { AdoptionDeps } from "./adopt-imported.ts";

/** The row of the walk, as the process that works on it has read it. */
export type Walk = Readonly<AdoptionModel>;

export type Counts = Pick<AdoptionModel, "adopted" | "reopened" | "doubtful" | "looked">;

/**
 * Takes the walk of the present incarnation, where its last step ended. Returns undefined if there is nothing to do: the deployment does
 * not recover, another process works on it, or an admin has to answer.
 */
export function takeWalk({ db, clock }: AdoptionDeps): Promise<Walk | undefined> {
  return withTransaction(db, async (tx) => {
    const nowNs = clock.nowNs();
    const deployment = await tx.deployment.findUniqueOrThrow({ where: { id: 1 } });
    if (deployment.recoveringSinceNs === null) return undefined;
    const walk = await lockWalk(tx, deployment.incarnation);
    if (walk.pass === "asking" || walk.pass === "over") return undefined;
    if (walk.beatAtNs !== null && walk.beatAtNs > nowNs - LIVE_NS) return undefined;
    const data = { attempts: walk.attempts + 1, beatAtNs: nowNs };
    return tx.adoption.update({ where: { id: 1 }, data });
  });
}

/** Under another incarnation everything is compared again. */
async function lockWalk(tx: Transaction, incarnation: string): Promise<Walk> {
  const fresh = {
    incarnation,
    pass: "ledger",
    doneUntil: "",
    adopted: 0,
    reopened: 0,
    doubtful: 0,
    looked: 0,
  } as const;
  await tx.adoption.createMany({ data: [{ ...fresh, id: 1 }], skipDuplicates: true });
  await tx.$queryRaw`SELECT id FROM "Adoption" WHERE id = 1 FOR UPDATE`;
  const walk = await tx.adoption.findUniqueOrThrow({ where: { id: 1 } });
  if (walk.incarnation === incarnation) return walk;
  await forgetFound(tx);
  return tx.adoption.update({ where: { id: 1 }, data: { ...fresh, beatAtNs: null } });
}

async function forgetFound(tx: Transaction): Promise<void> {
  await tx.$executeRaw`TRUNCATE "FoundUpload", "MissingObject"`;
}

/** Another process owns the walk by now, or the deployment has another incarnation: this one leaves everything as it is. */
export class WalkTakenError extends Error {
  constructor() {
    super("the walk through the object store was taken over");
    this.name = "WalkTakenError";
  }
}

interface Step {
  readonly doneUntil: string;
  readonly counts?: Partial<Counts>;
}

/** The pass has come this far: the next process continues here. */
export async function noteStep({ db, clock }: AdoptionDeps, walk: Walk, { doneUntil, counts }: Step): Promise<void> {
  const { adopted = 0, reopened = 0, doubtful = 0, looked = 0 } = counts ?? {};
  const added = { adopted, reopened, doubtful, looked };
  const increments = Object.fromEntries(Object.entries(added).map(([name, count]) => [name, { increment: count }]));
  const { count } = await db.prisma.adoption.updateMany({
    where: { ...toWalkKey(walk), pass: walk.pass },
    data: { doneUntil, beatAtNs: clock.nowNs(), ...increments },
  });
  if (count === 0) throw new WalkTakenError();
}

/** Says whether this process still owns the walk, and marks it as alive. */
export async function showWalk({ db }: AdoptionDeps, walk: Walk, nowNs: bigint): Promise<boolean> {
  return (await db.prisma.adoption.updateMany({ where: toWalkKey(walk), data: { beatAtNs: nowNs } })).count > 0;
}

/** This process stops, or a temporary failure came: another process need not wait. */
export async function letGoOfWalk({ db }: AdoptionDeps, walk: Walk): Promise<void> {
  await db.prisma.adoption.updateMany({ where: toWalkKey(walk), data: { beatAtNs: null } });
}

/** Continues with the next pass; after the last one the deployment has recovered. */
export function endPass({ db, clock }: AdoptionDeps, walk: Walk, event: AdoptionEvent): Promise<Walk> {
  return withTransaction(db, async (tx) => {
    await tx.$queryRaw`SELECT id FROM "Deployment" WHERE id = 1 FOR UPDATE`;
    const { incarnation } = await tx.deployment.findUniqueOrThrow({ where: { id: 1 } });
    const pass = nextPass(walk.pass, event)!;
    const { count } = await tx.adoption.updateMany({
      where: { ...toWalkKey(walk), pass: walk.pass, incarnation },
      data: { pass, doneUntil: "" },
    });
    if (count === 0) throw new WalkTakenError();
    if (pass === "over") {
      await forgetFound(tx);
      await endRecovery(tx, clock.nowNs());
    }
    return tx.adoption.findUniqueOrThrow({ where: { id: 1 } });
  });
}

function toWalkKey({ attempts, incarnation }: Walk) {
  return { id: 1, attempts, incarnation };
}
