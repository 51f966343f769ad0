import type { api, Input, Output } from "@downlink/protocol";
import type { AgentCtx } from "../context.ts";
import type { AgentModel } from "../db/generated/models.ts";
import type { Transaction } from "../db/transaction.ts";
import { terminalStates } from "../ingest/import-request-state.ts";
import { withLease } from "./lease.ts";
import { removeFiles } from "./remove-files.ts";
import { storeFiles } from "./store-files.ts";
import { storeSchemas, unknownSchemas } from "./store-schemas.ts";

type Report = typeof api.edge.report;

/** One batch of what an agent has. Any repeat, and any order of batches within the lease, ends in the same state. */
export async function report(ctx: AgentCtx, body: Input<Report>): Promise<Output<Report>> {
  const nowNs = ctx.clock.nowNs();
  const items = [...new Map(body.upserts.map((item) => [item.versionId, item])).values()]; // said twice, the last counts
  return withLease(ctx, async (tx, agent) => {
    await storeSchemas(tx, ctx.caller.orgId, body.schemas);
    await storeFiles(tx, { agent, items, listingId: body.listing?.id, nowNs });
    await removeVersions(tx, { agent, versionIds: body.removals, nowNs });
    await acknowledge(tx, agent, body.acknowledgements);
    return {
      unknownSchemas: await unknownSchemas(tx, ctx.caller.orgId, body.upserts),
      isListingComplete: body.listing?.isLast
        ? await endListing(tx, { agent, listing: body.listing, nowNs })
        : undefined,
    };
  });
}

interface Removal {
  readonly agent: AgentModel;
  readonly versionIds: readonly string[];
  readonly nowNs: bigint;
}

async function removeVersions(tx: Transaction, { agent, versionIds, nowNs }: Removal): Promise<void> {
  if (versionIds.length === 0) return;
  const files = await tx.edgeFile.findMany({ where: { agentId: agent.id, versionId: { in: [...versionIds] } } });
  await removeFiles(tx, { files, nowNs });
}

/** The agent knows how these requests ended: they leave its work. */
async function acknowledge(tx: Transaction, agent: AgentModel, requestIds: readonly string[]): Promise<void> {
  if (requestIds.length === 0) return;
  await tx.importRequest.updateMany({
    where: { id: { in: [...requestIds] }, agentId: agent.id, state: { in: [...terminalStates] } },
    data: { isAcknowledged: true },
  });
}

interface Ending {
  readonly agent: AgentModel;
  readonly listing: NonNullable<Input<Report>["listing"]>;
  readonly nowNs: bigint;
}

/** Only a listing that arrived whole says what is absent; false asks for it anew and changes nothing. */
async function endListing(tx: Transaction, { agent, listing, nowNs }: Ending): Promise<boolean> {
  const named = await tx.edgeFile.count({ where: { agentId: agent.id, listingId: listing.id } });
  if (named !== listing.count) return false;
  const absent = await tx.edgeFile.findMany({
    where: { agentId: agent.id, OR: [{ listingId: null }, { listingId: { not: listing.id } }] },
  });
  await removeFiles(tx, { files: absent, nowNs });
  return true;
}
