import { IDEMPOTENCY_HOURS } from "@downlink/protocol";
import type { Database } from "../../db/client.ts";
import type { KeptAnswerModel } from "../../db/generated/models.ts";
import type { Ctx } from "../context/context.ts";

const KEPT_NS = BigInt(IDEMPOTENCY_HOURS) * 3600n * 1_000_000_000n;
const ROWS_A_STATEMENT = 10_000;

/** A caller and its `Idempotency-Key`. */
export interface CallOnce {
  readonly callerId: string;
  readonly key: string;
}

/** Finds the answer for a repeat of the call; undefined if this is the first call, or the first was a day ago. */
export async function findKept({ db, clock }: Ctx, call: CallOnce): Promise<KeptAnswerModel | undefined> {
  const kept = await db.prisma.keptAnswer.findUnique({ where: { callerId_key: call } });
  return kept && kept.createdAtNs > clock.nowNs() - KEPT_NS ? kept : undefined;
}

/** Says whether this call is alone until the transaction ends, and none was before it; a call that crashed left nothing. */
export async function claim(ctx: Ctx, call: CallOnce): Promise<boolean> {
  const name = `once ${call.callerId} ${call.key}`;
  const [row] = await ctx.db.prisma.$queryRaw<[{ isOurs: boolean }]>`
    SELECT pg_try_advisory_xact_lock(hashtextextended(${name}, 0)) AS "isOurs"`;
  // A separate statement is needed: the one that takes the lock does not see what was committed while it waited.
  return row.isOurs && (await findKept(ctx, call)) === undefined;
}

/** The first answer stays; an answer of the day before is replaced. */
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

/** Removes answers that are too old to be used, some at a time. */
export async function forgetOldAnswers({ prisma }: Pick<Database, "prisma">, nowNs: bigint): Promise<void> {
  let removed: number;
  do {
    removed = await prisma.$executeRaw`
      DELETE FROM "KeptAnswer" WHERE ("callerId", key) IN (
        SELECT "callerId", key FROM "KeptAnswer" WHERE "createdAtNs" <= ${nowNs - KEPT_NS} LIMIT ${ROWS_A_STATEMENT})`;
  } while (removed === ROWS_A_STATEMENT);
}
