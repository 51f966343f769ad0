import { contextOf, type TransactionContext } from "../../background/jobs/transaction-context.ts";
import type { Deps } from "../../calls/context/context.ts";
import { Prisma } from "../../db/generated/client.ts";
import type { SiteProcessModel } from "../../db/generated/models.ts";
import { type Transaction, withTransaction } from "../../db/transaction.ts";
import { changeRequest } from "../../import-life/change-request.ts";
import { moveRecording } from "../../import-life/delivery.ts";
import { workingStates } from "../../import-life/import-request-state.ts";
import { findLocked } from "../../import-life/lock-recording.ts";
import { findDataAgain, noteLoss, storedFaults } from "../../import-life/lost-data.ts";
import { publishFailure } from "../../import-life/publish-failure.ts";

type JudgeDeps = Pick<Deps, "db" | "jobs" | "clock" | "log">;

const PAGE = 500;
const loss = {
  ...storedFaults.missing,
  text: "the self-hosted site does not have the data any more; the recording comes back when the object does",
} as const;

/**
 * Judges a relisting that a site has ended: recordings without their object become unavailable, and those whose object is back are
 * complete again. Nothing is deleted. Each object is judged by itself, so that a repeat changes nothing.
 */
export async function judgeListed(deps: JudgeDeps, siteId: string, signal: AbortSignal): Promise<void> {
  const { prisma } = deps.db;
  const site = await prisma.siteProcess.findUnique({ where: { siteId } });
  if (!site?.isListed) return;
  const counts = {
    lost: await judgeAll(deps, site, { find: MISSING, judge: loseObject, signal }),
    returned: await judgeAll(deps, site, { find: RETURNED, judge: returnObject, signal }),
  };
  const ended = { relistId: null, isListed: false, relistedAtNs: deps.clock.nowNs() };
  const { count } = await prisma.siteProcess.updateMany({ where: { siteId, relistId: site.relistId }, data: ended });
  if (count > 0) deps.log[counts.lost > 0 ? "error" : "info"]({ siteId, ...counts }, "a self-hosted site was relisted");
}

const MISSING = Prisma.sql`(r."importStatus" = 'complete' OR q.state = ANY(${[...workingStates]}))
  AND o."seenIn" IS DISTINCT FROM p."relistId"`;
const RETURNED = Prisma.sql`(r."importStatus" <> 'complete' OR (q.state = 'error' AND q."errorCode" = ${loss.code}))
  AND o."seenIn" = p."relistId"`;

interface Judgement {
  /** Which objects are judged. */
  readonly find: Prisma.Sql;
  readonly judge: (context: TransactionContext, key: string) => Promise<boolean>;
  readonly signal: AbortSignal;
}

async function judgeAll(deps: JudgeDeps, site: SiteProcessModel, { find, judge, signal }: Judgement): Promise<number> {
  let changed = 0;
  for (let after = ""; ; ) {
    signal.throwIfAborted();
    const page = await deps.db.prisma.$queryRaw<{ key: string }[]>`
      SELECT o.key FROM "SiteProcess" p JOIN "SiteObject" o ON o."siteId" = p."siteId"
        LEFT JOIN "Recording" r ON r."siteObjectKey" = o.key LEFT JOIN "ImportRequest" q ON q."siteObjectKey" = o.key
      WHERE p."siteId" = ${site.siteId} AND p."relistId" = ${site.relistId} AND o.key > ${after} AND ${find}
      ORDER BY o.key LIMIT ${PAGE}`;
    if (page.length === 0) return changed;
    for (const { key } of page)
      if (await withTransaction(deps.db, (tx) => judgeOne(contextOf(tx, deps), { site, key, judge }))) changed += 1;
    after = page.at(-1)!.key;
  }
}

interface Judged extends Pick<Judgement, "judge"> {
  readonly site: SiteProcessModel;
  readonly key: string;
}

/** A process that has begun meanwhile may have the object, so its own relisting decides. */
async function judgeOne(context: TransactionContext, { site, key, judge }: Judged): Promise<boolean> {
  const { siteId, relistId } = site;
  const [goesOn] = await context.tx.$queryRaw<object[]>`
    SELECT FROM "SiteProcess" WHERE "siteId" = ${siteId} AND "relistId" = ${relistId} FOR SHARE`;
  return goesOn !== undefined && judge(context, key);
}

async function loseObject(context: TransactionContext, key: string): Promise<boolean> {
  const { tx, nowNs } = context;
  const request = await tx.importRequest.findUnique({ where: { siteObjectKey: key } });
  if (!request) return loseRecording(context, key);
  const { id, recordingId } = request;
  if (recordingId !== null) await findLocked(tx, recordingId);
  const data = { errorCode: loss.code, errorText: loss.text, quarantinedAtNs: nowNs, nextAttemptAtNs: null };
  const failed = await changeRequest({ tx, nowNs }, { id, event: "fail", data });
  if (!failed) return false;
  if (recordingId !== null) await moveRecording(tx, recordingId, { event: "fail", reason: loss });
  await publishFailure({ tx, nowNs }, failed);
  return true;
}

async function loseRecording(context: TransactionContext, key: string): Promise<boolean> {
  const recording = await lockByKey(context.tx, key);
  return recording !== null && noteLoss(context, recording, loss);
}

async function returnObject(context: TransactionContext, key: string): Promise<boolean> {
  const { tx, nowNs } = context;
  const request = await tx.importRequest.findUnique({ where: { siteObjectKey: key } });
  if (!request) return returnRecording(context, key);
  const { id, recordingId, attempts, errorCode } = request;
  if (errorCode !== loss.code) return false;
  if (recordingId !== null) await moveRecording(tx, recordingId, { event: "retry" });
  const forgotten = { errorCode: null, errorText: null, quarantinedAtNs: null, attemptsBefore: attempts };
  const data = { ...forgotten, pipelineStage: "Waiting to be processed at its site" };
  return (await changeRequest({ tx, nowNs }, { id, event: "retry", data })) !== undefined;
}

/** A recording whose key another one got meanwhile stays unavailable, as long as that one has it. */
async function returnRecording(context: TransactionContext, key: string): Promise<boolean> {
  const { tx } = context;
  const recording = await lockByKey(tx, key);
  if (!recording || recording.importStatus === "complete") return false;
  const { projectId } = recording;
  const other = { projectId, key: recording.key, importStatus: "complete" } as const;
  if (recording.key !== null && (await tx.recording.count({ where: other })) > 0) return false;
  await findDataAgain(context, recording);
  return true;
}

async function lockByKey(tx: Transaction, siteObjectKey: string) {
  const found = await tx.recording.findUnique({ where: { siteObjectKey }, select: { id: true } });
  const recording = found && (await findLocked(tx, found.id));
  return recording?.siteObjectKey === siteObjectKey ? recording : null;
}
