import type { api, Input, Output } from "@downlink/protocol";
import type { AgentCtx } from "../context.ts";
import type { AgentModel } from "../db/generated/models.ts";
import type { Transaction } from "../db/transaction.ts";
import { terminalStates } from "../ingest/import-request-state.ts";
import { endListing } from "./end-listing.ts";
import { findVersions } from "./find-versions.ts";
import { withLease } from "./lease.ts";
import { removeFiles } from "./remove-files.ts";
import { storeFiles } from "./store-files.ts";
import { storeSchemas, unknownSchemas } from "./store-schemas.ts";

type Report = typeof api.edge.report;

/**
 * One batch of what an agent has. Reports take effect in the order of their sequence, whatever the network repeats or holds
 * up: one that arrives after a later one changes nothing, and a repeat of the last one ends in the same state.
 */
export async function report(ctx: AgentCtx, body: Input<Report>): Promise<Output<Report>> {
  const unknown = await withLease(ctx, (tx, agent) => storeReport(tx, { ctx, agent, body }), body.sequence);
  const { listing, sequence } = body;
  if (!listing?.isLast) return { unknownSchemas: unknown };
  return { unknownSchemas: unknown, isListingComplete: await endListing(ctx, { ...listing, sequence }) };
}

interface Received {
  readonly ctx: AgentCtx;
  readonly agent: AgentModel;
  readonly body: Input<Report>;
}

/** Answers the schemas that it names and nobody has sent yet. */
async function storeReport(tx: Transaction, { ctx, agent, body }: Received): Promise<string[]> {
  const nowNs = ctx.clock.nowNs();
  const items = [...new Map(body.upserts.map((item) => [item.versionId, item])).values()]; // said twice, the last counts
  await storeSchemas(tx, agent.orgId, body.schemas);
  await storeFiles(tx, { agent, items, listingId: body.listing?.id, nowNs });
  await removeVersions(tx, { agent, versionIds: body.removals, nowNs });
  await acknowledge(tx, agent, body.acknowledgements);
  return unknownSchemas(tx, agent.orgId, items);
}

interface Removal {
  readonly agent: AgentModel;
  readonly versionIds: readonly string[];
  readonly nowNs: bigint;
}

async function removeVersions(tx: Transaction, { agent, versionIds, nowNs }: Removal): Promise<void> {
  if (versionIds.length === 0) return;
  const files = await findVersions(tx, { agentId: agent.id, versionIds });
  await removeFiles(tx, { agent, files, nowNs });
}

/** The agent knows how these requests ended: they leave its work. */
async function acknowledge(tx: Transaction, agent: AgentModel, requestIds: readonly string[]): Promise<void> {
  if (requestIds.length === 0) return;
  await tx.importRequest.updateMany({
    where: { id: { in: [...requestIds] }, agentId: agent.id, state: { in: [...terminalStates] } },
    data: { isAcknowledged: true },
  });
}
