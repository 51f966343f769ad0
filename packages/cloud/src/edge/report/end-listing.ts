import type { AgentCtx } from "../../calls/context/context.ts";
import { ApiError } from "../../core/errors.ts";
import type { AgentModel } from "../../db/generated/models.ts";
import { holdIncarnation } from "../../db/incarnation.ts";
import type { Transaction } from "../../db/transaction.ts";
import type { FileVersion } from "../../fleet/agents/find-versions.ts";
import { withLease } from "../../fleet/agents/lease.ts";
import { removeFiles } from "../../fleet/agents/remove-files.ts";
import { noteListed } from "../standing/inventory.ts";

const FILES_A_TRANSACTION = 1000;

interface Ending {
  /** The id of the listing. */
  readonly id: string;
  /** How many files the whole listing names. */
  readonly count?: number | undefined;
  /** The number of the report that ends the listing. */
  readonly sequence: number;
}

/**
 * Removes the files that the listing does not name, if it arrived whole; returning false asks for it again and changes nothing. A swapped
 * card removes a hundred thousand files: in transactions of bounded size, each under lease and number, so that a newer report ends the
 * removal at once. A repeat goes on where an interruption left off.
 */
export async function endListing(ctx: AgentCtx, ending: Ending): Promise<boolean> {
  const { sequence } = ending;
  const isWhole = await withLease(ctx, (tx, agent) => hasArrivedWhole(tx, agent, ending), sequence);
  if (!isWhole) return false;
  for (let after: string | undefined = ""; after !== undefined; ) {
    if (ctx.isInterrupted()) throw newInterruptedError();
    after = await removeSome(ctx, ending, after);
  }
  return true;
}

function newInterruptedError(): ApiError {
  return new ApiError("Unavailable", "the listing was not ended; send its last report again", { retryAfterSeconds: 1 });
}

async function hasArrivedWhole(tx: Transaction, agent: AgentModel, { id, count }: Ending): Promise<boolean> {
  return (await tx.edgeFile.count({ where: { agentId: agent.id, listingId: id } })) === count;
}

/** Continues after the version id up to which all is done; returns the next one, or undefined at the end. */
function removeSome(ctx: AgentCtx, { id, sequence }: Ending, after: string): Promise<string | undefined> {
  const remove = async (tx: Transaction, agent: AgentModel) => {
    const files = await findAbsent(tx, { agentId: agent.id, listingId: id, after });
    await removeFiles({ tx, nowNs: ctx.clock.nowNs() }, { agent, files });
    if (files.length === FILES_A_TRANSACTION) return files.at(-1)!.versionId;
    await noteListed(tx, agent, await holdIncarnation(tx));
    return undefined;
  };
  return withLease(ctx, remove, sequence); // each time again, because files that were reported since are not in this listing
}

interface Absence {
  readonly agentId: string;
  readonly listingId: string;
  readonly after: string;
}

function findAbsent(tx: Transaction, { agentId, listingId, after }: Absence): Promise<FileVersion[]> {
  const isUnlisted = [{ listingId: null }, { listingId: { not: listingId } }];
  return tx.edgeFile.findMany({
    where: { agentId, versionId: { gt: after }, OR: isUnlisted },
    select: { id: true, versionId: true, recordingId: true },
    orderBy: { versionId: "asc" },
    take: FILES_A_TRANSACTION,
  });
}
