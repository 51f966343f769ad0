// An agent that sends `maxRequests` gets a part: at most the most urgent 10,000 requests and 4 MiB, with `more`, and with those that were
// `cancelled` and are not acknowledged. An older agent takes an absent request for a cancelled one, so it still gets all of them.

import { type EdgeWork, edgeLimits, WantedImport } from "@downlink/protocol";
import { z } from "zod";
import type { Complete } from "../../core/complete.ts";
import type { Prisma } from "../../db/generated/client.ts";
import type { AgentModel, ImportRequestModel } from "../../db/generated/models.ts";
import type { Transaction } from "../../db/transaction.ts";
import { wantedCuts } from "../../fleet/agents/cuts.ts";
import { wantedSalvages } from "../../fleet/agents/salvages.ts";
import { type ImportRequestState, terminalStates } from "../../import-life/import-request-state.ts";
import { acknowledgementIdOf } from "./acknowledge.ts";

type Wanted = Omit<Complete<EdgeWork>, "settings">;

export const nothingWanted: Wanted = { imports: [], salvages: [], cuts: [], more: undefined, cancelled: undefined };

/** The limit of the answer in bytes; the rest is for salvages, cuts, cancelled requests and settings. */
const MAX_IMPORT_BYTES = edgeLimits.bytesPerWork - 1024 * 1024;
const MAX_SALVAGES = 1000;
const MAX_CANCELLED = 10_000;

/**
 * Reads what is wanted of an agent: everything, so that an absent request is a cancelled one; or, for an agent that says how many it takes,
 * the first requests by priority and order, and those that were cancelled and are not acknowledged.
 */
export async function readWanted(tx: Transaction, agent: AgentModel, maxRequests?: number): Promise<Wanted> {
  const waiting = agent.siteId === null ? [] : await findDisabledDevices(tx, agent);
  const [takeImports, takeSalvages] = maxRequests === undefined ? [] : [maxRequests + 1, MAX_SALVAGES + 1];
  const found = (await findImports(tx, { agent, waiting, take: takeImports })).flatMap(toWantedImport);
  const salvages = await wantedSalvages(tx, agent.id, takeSalvages);
  const cuts = await wantedCuts(tx, agent.id);
  const imports = maxRequests === undefined ? found : firstThatFit(found.slice(0, maxRequests));
  const isAll = imports.length === found.length && salvages.length <= MAX_SALVAGES;
  if (maxRequests !== undefined && !isAll) {
    const cancelled = await findCancelled(tx, { agent, waiting });
    return { imports, salvages: salvages.slice(0, MAX_SALVAGES), cuts, more: true, cancelled };
  }
  await forgetCancelled(tx, agent);
  return { ...nothingWanted, imports, salvages, cuts };
}

interface Asked {
  readonly agent: AgentModel;
  /** Disabled devices at the agent's site, whose requests wait. A device's own agent learns that from its settings. */
  readonly waiting: readonly string[];
  readonly take?: number | undefined;
}

/** This includes a failure that was taken back: its request is cancelled, and the agent still remembers the failure. */
function openOf({ id }: AgentModel): Prisma.ImportRequestWhereInput {
  return { agentId: id, isAcknowledged: false, OR: [{ state: { not: "cancelled" } }, { isOver: true }] };
}

function findImports(tx: Transaction, { agent, waiting, take }: Asked): Promise<ImportRequestModel[]> {
  const isServed = { OR: [{ deviceId: null }, { deviceId: { notIn: [...waiting] } }] };
  return tx.importRequest.findMany({
    where: { AND: [openOf(agent), isServed], versionId: { not: null }, recordingId: { not: null } },
    orderBy: [{ priority: "desc" }, { createdAtNs: "asc" }, { id: "asc" }],
    take,
  });
}

async function findDisabledDevices(tx: Transaction, agent: AgentModel): Promise<string[]> {
  const groups = await tx.importRequest.groupBy({ by: ["deviceId"], where: openOf(agent) });
  const ids = groups.flatMap(({ deviceId }) => deviceId ?? []);
  const disabled = await tx.device.findMany({ where: { id: { in: ids }, enabled: false }, select: { id: true } });
  return disabled.map(({ id }) => id);
}

const stages: Record<ImportRequestState, WantedImport["stage"]> = {
  awaiting: "deliver",
  received: "processing",
  processing: "processing",
  "ready for indexing": "processing",
  complete: "imported",
  error: "failed",
  cancelled: "failed", // a failure that was taken back
};

function toWantedImport(row: ImportRequestModel): Complete<WantedImport>[] {
  if (row.versionId === null || row.recordingId === null) return []; // the recording was deleted meanwhile
  const reason = row.errorCode === null ? undefined : { code: row.errorCode, text: row.errorText ?? "" };
  return [
    {
      requestId: acknowledgementIdOf(row),
      recordingId: row.recordingId,
      versionId: row.versionId,
      stage: stages[row.state],
      priority: row.priority,
      requestedAt: row.createdAtNs,
      reason,
      isOver: row.isOver || undefined,
    },
  ];
}

function firstThatFit(imports: readonly Complete<WantedImport>[]): Complete<WantedImport>[] {
  let bytes = 0;
  const tooMany = imports.findIndex((one) => {
    bytes += Buffer.byteLength(JSON.stringify(z.encode(WantedImport, one))) + 1;
    return bytes > MAX_IMPORT_BYTES;
  });
  return imports.slice(0, tooMany === -1 ? undefined : tooMany);
}

/** Returns the requests that the agent may still know and must not continue: they are cancelled, or belong to a disabled device. */
async function findCancelled(tx: Transaction, { agent, waiting }: Asked): Promise<string[]> {
  const stopped = { deviceId: { in: [...waiting] }, state: { notIn: [...terminalStates] } };
  const rows = await tx.importRequest.findMany({
    where: { agentId: agent.id, isAcknowledged: false, OR: [{ state: "cancelled", isOver: false }, stopped] },
    select: { id: true },
    orderBy: [{ updatedAtNs: "desc" }, { id: "asc" }],
    take: MAX_CANCELLED,
  });
  return rows.map(({ id }) => id);
}

/** The agent notices that they are absent from the complete list. */
async function forgetCancelled(tx: Transaction, { id }: AgentModel): Promise<void> {
  await tx.importRequest.updateMany({
    where: { agentId: id, isAcknowledged: false, isOver: false, state: "cancelled" },
    data: { isAcknowledged: true },
  });
}
