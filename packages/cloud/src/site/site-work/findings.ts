import {
  type api,
  type Input,
  type Output,
  type SiteFindings,
  type SiteRequestState,
  siteLimits,
} from "@downlink/protocol";
import type { SiteCtx } from "../../calls/context/context.ts";
import type { Complete } from "../../core/complete.ts";
import type { ImportRequestModel } from "../../db/generated/models.ts";
import { withTransaction } from "../../db/transaction.ts";
import { changeRequest } from "../../import-life/change-request.ts";
import { decide, finishImport, TakenOverError } from "../../imports/ingest/finish-import.ts";
import { IngestError, toIngestError } from "../../imports/ingest/ingest-failure.ts";
import { quarantineImport } from "../../imports/ingest/ingest-outcomes.ts";
import { replaceLost } from "../../imports/ingest/replace-lost.ts";
import { toSummary, unpackFindings } from "../site-findings/site-findings.ts";
import { isRedelivered } from "./redelivery.ts";
import { findGiven, isOwned, takeAttempt } from "./report.ts";
import { withSiteLease } from "./site-lease.ts";
import { toState } from "./site-rows.ts";

type Findings = (typeof api.site)["findings"];

/** Takes a piece of what the site found in a file. With the last one the file becomes a recording, or fails with the reason. */
export async function findings(ctx: SiteCtx, input: Input<Findings>): Promise<Complete<Output<Findings>>> {
  const { requestId, attempt, number, isLast } = input;
  const request = await withSiteLease(ctx, async (tx) => {
    const taken = await takeAttempt(tx, ctx, input);
    if (!isOwned(taken, input)) return taken;
    const bytes = Buffer.from(input.data, "base64");
    const place = { requestId, attempt, number };
    const where = { requestId_attempt_number: place };
    await tx.siteFindingsPiece.upsert({ where, create: { ...place, bytes }, update: { bytes } });
    return taken;
  });
  if (isLast && isOwned(request, input)) await file(ctx, request, number);
  return { state: await stateOf(ctx, requestId) };
}

async function stateOf(ctx: SiteCtx, requestId: string): Promise<SiteRequestState> {
  return toState(await findGiven(ctx.db.prisma, ctx, requestId));
}

/** Another call may file the same findings at this moment: then the attempt is over, and this one changes nothing. */
async function file(ctx: SiteCtx, request: ImportRequestModel, pieces: number): Promise<void> {
  try {
    const found = await readFindings(ctx, request, pieces);
    if (!(await isRedelivered(ctx, request, found.sha256))) await fileRead(ctx, request, found);
  } catch (error) {
    if (error instanceof TakenOverError) return;
    const failure = toIngestError(error, request.attempts - request.attemptsBefore);
    if (!failure) throw error; // the site sends them again
    await quarantineImport(ctx, request, failure);
  }
  await ctx.db.prisma.siteFindingsPiece.deleteMany({ where: { requestId: request.id } });
}

async function readFindings(ctx: SiteCtx, { id, attempts }: ImportRequestModel, count: number): Promise<SiteFindings> {
  const pieces = await ctx.db.prisma.siteFindingsPiece.findMany({
    where: { requestId: id, attempt: attempts, number: { lte: count } },
    orderBy: { number: "asc" },
    select: { bytes: true },
    take: siteLimits.piecesPerFile,
  });
  if (pieces.length !== count) throw new IngestError("FindingsIncomplete", "the site did not send all that it found");
  return unpackFindings(pieces.map(({ bytes }) => bytes));
}

async function fileRead(ctx: SiteCtx, request: ImportRequestModel, found: SiteFindings): Promise<void> {
  const summary = toSummary(found, request);
  const finish = { request, summary, contentSha256: found.sha256, hasManifest: true, jobs: ctx.jobs };
  const nowNs = ctx.clock.nowNs();
  const { decision } = await decide(ctx.db.prisma, { ...finish, nowNs });
  const replacing = await replaceLost(ctx, { request, decision });
  await withTransaction(ctx.db, async (tx) => {
    const data = { pipelineStage: "Filing" };
    const change = { id: request.id, event: "index", attempt: request.attempts, data } as const;
    const indexed = await changeRequest({ tx, nowNs }, change);
    if (!indexed) throw new TakenOverError(request.id);
    await finishImport(tx, { ...finish, request: replacing ? { ...indexed, ...replacing } : indexed, nowNs });
  });
}
