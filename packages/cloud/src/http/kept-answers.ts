import { IDEMPOTENCY_HOURS } from "@downlink/protocol";
import type { Ctx } from "../context/context.ts";
import type { Database } from "../db/client.ts";
import type { KeptAnswerModel } from "../db/generated/models.ts";

const KEPT_NS = BigInt(IDEMPOTENCY_HOURS) * 3600n * 1_000_000_000n;
const ROWS_A_STATEMENT = 10_000;

/** Who calls with which `Idempotency-Key`. */
export interface CallOnce {
  readonly callerId: string;
  readonly key: string;
}

/** What a repeat of the call is answered by; undefined where this is the first, or the first was a day ago. */
export async function findKept({ db, clock }: Ctx, call: CallOnce): Promise<KeptAnswerModel | undefined> {
  const kept = await db.prisma.keptAnswer.findUnique({ where: { callerId_key: call } });
  return kept && kept.createdAtNs > clock.nowNs() - KEPT_NS ? kept : undefined;
}

/** Whether nobody else is at this call until the transaction ends, nor has been: one that died left nothing. */
export async function claim(ctx: Ctx, call: CallOnce): Promise<boolean> {
  const name = `once ${call.callerId} ${call.key}`;
  const [row] = await ctx.db.prisma.$queryRaw<[{ isOurs: boolean }]>`
    SELECT pg_try_advisory_xact_lock(hashtextextended(${name}, 0)) AS "isOurs"`;
  // In a statement of its own: that of the lock does not see what was committed while it was taken.
  return row.isOurs && (await findKept(ctx, call)) === undefined;
}

/** The first answer stays; one of the day before goes. */
export async function keepAnswer(
  { prisma }: Pick<Database, "prisma">,
  { callerId, key, fingerprint, status, body, madeId, createdAtNs }: KeptAnswerModel,
): Promise<void> {
  await prisma.$executeRaw`
    INSERT INTO "KeptAnswer" AS kept ("callerId", key, fingerprint, status, body, "madeId", "createdAtNs")
    VALUES (${callerId}, ${key}, ${fingerprint}, ${status}, ${body}, ${madeId}, ${createdAtNs})
    ON CONFLICT ("callerId", key) DO UPDATE SET fingerprint = EXCLUDED.fingerprint, status = EXCLUDED.status,
      body = EXCLUDED.body, "madeId" = EXCLUDED."madeId", "createdAtNs" = EXCLUDED."createdAtNs"
    WHERE kept."createdAtNs" <= EXCLUDED."createdAtNs" - ${KEPT_NS}`;
}

/** Removes the answers that nobody is given any more, some at a time. */
export async function forgetOldAnswers({ prisma }: Pick<Database, "prisma">, nowNs: bigint): Promise<void> {
  let removed: number;
  do {
    removed = await prisma.$executeRaw`
      DELETE FROM "KeptAnswer" WHERE ("callerId", key) IN (
        SELECT "callerId", key FROM "KeptAnswer" WHERE "createdAtNs" <= ${nowNs - KEPT_NS} LIMIT ${ROWS_A_STATEMENT})`;
  } while (removed === ROWS_A_STATEMENT);
}
