import type { api, DeletionReason, EdgeItem, Input, Output } from "@downlink/protocol";
import { findVersions } from "../agents/find-versions.ts";
import { withLease } from "../agents/lease.ts";
import { removeFiles } from "../agents/remove-files.ts";
import type { AgentCtx } from "../context/context.ts";
import type { Complete } from "../core/complete.ts";
import type { AgentModel } from "../db/generated/models.ts";
import type { Transaction } from "../db/transaction.ts";
import { acknowledge } from "./acknowledge.ts";
import { endListing } from "./end-listing.ts";
import { noteSalvages } from "./note-salvages.ts";
import { placeFiles } from "./place-files.ts";
import { requestAutoImports } from "./request-auto-imports.ts";
import { storeFiles } from "./store-files.ts";
import { storeSchemas, unknownSchemas } from "./store-schemas.ts";

type Report = typeof api.edge.report;

/**
 * One batch of what an agent has. Reports take effect in the order of their sequence, whatever the network repeats or holds
 * up: one that arrives after a later one changes nothing, and a repeat of the last one ends in the same state.
 */
export async function report(ctx: AgentCtx, body: Input<Report>): Promise<Complete<Output<Report>>> {
  const { unknown, unassigned, ends } = await withLease(
    ctx,
    (tx, agent) => storeReport(tx, { ctx, agent, body }),
    body.sequence,
  );
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
}

/** Answers the schemas that it names and nobody has sent yet. */
async function storeReport(tx: Transaction, { ctx, agent, body }: Received) {
  const nowNs = ctx.clock.nowNs();
  const said = [...new Map(body.upserts.map((item) => [item.versionId, item])).values()]; // said twice, the last counts
  const { items, places, unassigned } = await placeFiles(tx, { agent, items: said, nowNs });
  await storeSchemas(tx, agent.orgId, body.schemas);
  await storeFiles(tx, { agent, items, places, listingId: body.listing?.id, nowNs });
  await noteSalvages(tx, { ctx, agent, items });
  await removeVersions(tx, { agent, versionIds: body.removals, nowNs });
  for (const [because, gone] of Map.groupBy(body.deletions ?? [], (deletion) => deletion.because))
    await removeVersions(tx, { agent, versionIds: gone.map(({ versionId }) => versionId), because, nowNs });
  await acknowledge(tx, agent, body.acknowledgements);
  await requestAutoImports(tx, { agent, items, nowNs });
  const ends = body.listing && (await endsAmong(tx, agent, items));
  return { unknown: await unknownSchemas(tx, agent.orgId, items), unassigned, ends };
}

interface Removal {
  readonly agent: AgentModel;
  readonly versionIds: readonly string[];
  readonly because?: DeletionReason;
  readonly nowNs: bigint;
}

async function removeVersions(tx: Transaction, { versionIds, ...removal }: Removal): Promise<void> {
  if (versionIds.length === 0) return;
  const files = await findVersions(tx, { agentId: removal.agent.id, versionIds });
  await removeFiles(tx, { ...removal, files });
}

/** An agent that lost its state cannot know what was imported before, nor what failed and why. */
async function endsAmong(
  tx: Transaction,
  { id }: AgentModel,
  items: readonly EdgeItem[],
): Promise<Pick<Output<Report>, "imported" | "importedContents" | "failed">> {
  const found = await findVersions(tx, { agentId: id, versionIds: items.map(({ versionId }) => versionId) });
  const ids = found.flatMap(({ recordingId }) => recordingId ?? []);
  const ended = await tx.recording.findMany({
    where: { id: { in: ids }, importStatus: { in: ["complete", "failed"] } },
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
