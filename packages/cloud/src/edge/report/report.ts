// Reports take effect in the order in which they were sent: each has the next number of its lease, and one that arrives after a later one
// changes nothing (`ReportSuperseded`). So the result is that of the reports sent once, in order, whatever is lost, repeated or late
// (`edge/report/report-convergence.slow.ts`).

import type { api, DeletionReason, EdgeItem, Input, Output } from "@downlink/protocol";
import type { Moment } from "../../background/jobs/transaction-context.ts";
import type { AgentCtx } from "../../calls/context/context.ts";
import type { Complete } from "../../core/complete.ts";
import type { AgentModel } from "../../db/generated/models.ts";
import type { Transaction } from "../../db/transaction.ts";
import { findVersions } from "../../fleet/agents/find-versions.ts";
import { withLease } from "../../fleet/agents/lease.ts";
import { removeFiles } from "../../fleet/agents/remove-files.ts";
import { acknowledge } from "../work/acknowledge.ts";
import { endListing } from "./end-listing.ts";
import { noteCuts } from "./note-cuts.ts";
import { noteSalvages } from "./note-salvages.ts";
import { placeFiles } from "./place-files.ts";
import { reportKnown } from "./report-known.ts";
import { requestAutoImports } from "./request-auto-imports.ts";
import { storeFiles } from "./store-files.ts";
import { storeSchemas, unknownSchemas } from "./store-schemas.ts";

type Report = typeof api.edge.report;

/**
 * Stores one batch of what an agent reports. On 2 cores, with 5 topics for each recording: 2,400 to 2,800 new recordings a second from one
 * agent, 5,200 to 5,400 from eight at once; 12,000 and more if nothing changed, because known files are not written again; 100,000 files of
 * a swapped card are removed in 6 s.
 */
export async function report(ctx: AgentCtx, body: Input<Report>): Promise<Complete<Output<Report>>> {
  const items = [...new Map(body.upserts.map((item) => [item.versionId, item])).values()]; // if a version is reported twice, the last item counts
  const known = await reportKnown(ctx, { ...body, items });
  const { unknown, unassigned, ends } = known
    ? { ...known, ends: body.listing && (await endsAmong(ctx.db.prisma, known.agentId, items)) }
    : await withLease(ctx, (tx, agent) => storeReport(tx, { ctx, agent, body, latest: items }), body.sequence);
  const { listing, sequence } = body;
  return {
    unknownSchemas: unknown,
    unassigned,
    imported: ends?.imported,
    importedContents: ends?.importedContents,
    failed: ends?.failed,
    isListingComplete: listing?.isLast ? await endListing(ctx, { ...listing, sequence }) : undefined,
  };
}

interface Received {
  readonly ctx: AgentCtx;
  readonly agent: AgentModel;
  readonly body: Input<Report>;
  /** The report's items, of which no two are of one version. */
  readonly latest: readonly EdgeItem[];
}

/**
 * Returns also which schemas the report names that were not sent yet. No transactions deadlock: rows that several agents share (schema
 * texts) are written in one order, recordings are locked by id, and hello takes the weakest lock on its device that suffices.
 */
async function storeReport(tx: Transaction, { ctx, agent, body, latest }: Received) {
  const nowNs = ctx.clock.nowNs();
  const { items, places, unassigned } = await placeFiles(tx, { agent, items: latest, nowNs });
  await storeSchemas(tx, agent.orgId, body.schemas);
  // The contract limits texts to what an index takes. If Postgres refuses one all the same, that is a 400 and never a 500: the agent answers
  // 400 and 413 by halving the report until it has found the file, names that one (`FileRefused`) and goes on with the others.
  await storeFiles(tx, { agent, items, places, listingId: body.listing?.id, nowNs });
  await noteSalvages(tx, { ctx, agent, items });
  await noteCuts(tx, { ctx, agent, items });
  await removeVersions({ tx, nowNs }, { agent, versionIds: body.removals });
  for (const [because, gone] of Map.groupBy(body.deletions ?? [], (deletion) => deletion.because))
    await removeVersions({ tx, nowNs }, { agent, versionIds: gone.map(({ versionId }) => versionId), because });
  await acknowledge(tx, agent, body.acknowledgements);
  await requestAutoImports(tx, { agent, items, nowNs });
  const ends = body.listing && (await endsAmong(tx, agent.id, items));
  return { unknown: await unknownSchemas(tx, agent.orgId, items), unassigned, ends };
}

interface Removal {
  readonly agent: AgentModel;
  readonly versionIds: readonly string[];
  readonly because?: DeletionReason;
}

async function removeVersions(moment: Moment, { versionIds, ...removal }: Removal): Promise<void> {
  if (versionIds.length === 0) return;
  const files = await findVersions(moment.tx, { agentId: removal.agent.id, versionIds });
  await removeFiles(moment, { ...removal, files });
}

/** An agent that lost its state cannot know which files were imported before, nor which failed and why. */
async function endsAmong(
  tx: Transaction,
  agentId: string,
  items: readonly EdgeItem[],
): Promise<Pick<Output<Report>, "imported" | "importedContents" | "failed">> {
  const found = await findVersions(tx, { agentId, versionIds: items.map(({ versionId }) => versionId) });
  const ids = found.flatMap(({ recordingId }) => recordingId ?? []);
  const ended = await tx.recording.findMany({
    where: { id: { in: ids }, importStatus: { in: ["complete", "failed"] }, isUnverified: false },
    select: { id: true, importStatus: true, contentSha256: true, failureCode: true, failureText: true },
  });
  const byId = new Map<string | null, (typeof ended)[number]>(ended.map((row) => [row.id, row]));
  const rows = found.flatMap(({ versionId, recordingId }) => {
    const row = byId.get(recordingId);
    return row ? [{ versionId, ...row }] : [];
  });
  const imported = rows.filter(({ importStatus }) => importStatus === "complete");
  return {
    imported: imported.map(({ versionId }) => versionId),
    importedContents: imported.flatMap(({ versionId, contentSha256: sha256 }) =>
      sha256 ? [{ versionId, sha256 }] : [],
    ),
    failed: rows
      .filter(({ importStatus }) => importStatus === "failed")
      .map(({ versionId, failureCode, failureText }) => ({
        versionId,
        code: failureCode ?? "",
        text: failureText ?? "",
      })),
  };
}
