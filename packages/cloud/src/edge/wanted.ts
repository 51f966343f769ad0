// An agent that says `maxRequests` is answered a part: the most urgent 10,000 requests and 4 MiB at most, with
// `more` and what was `cancelled` and not acknowledged. An older agent takes what is absent for cancelled: it is
// answered all, as before.

import { type EdgeWork, edgeLimits, WantedImport } from "@downlink/protocol";
import { z } from "zod";
import { wantedSalvages } from "../agents/salvages.ts";
import type { Complete } from "../core/complete.ts";
import type { Prisma } from "../db/generated/client.ts";
import type { AgentModel, ImportRequestModel } from "../db/generated/models.ts";
import type { Transaction } from "../db/transaction.ts";
import { type ImportRequestState, terminalStates } from "../import-life/import-request-state.ts";
import { acknowledgedAs } from "./acknowledge.ts";

type Wanted = Omit<Complete<EdgeWork>, "settings">;

export const nothingWanted: Wanted = { imports: [], salvages: [], more: undefined, cancelled: undefined };

/** Of the answer; the rest is for salvages, cancelled requests and settings. Bytes. */
const MAX_IMPORT_BYTES = edgeLimits.bytesPerWork - 1024 * 1024;
const MAX_SALVAGES = 1000;
const MAX_CANCELLED = 10_000;

/**
 * What is wanted of an agent: everything, in which a cancelled request is one that is no longer there; or, for an agent that says
 * how many it takes, the first by priority and order, with those that were cancelled and not acknowledged.
 */
export async function readWanted(tx: Transaction, agent: AgentModel, maxRequests?: number): Promise<Wanted> {
  const waiting = agent.siteId === null ? [] : await disabledDevices(tx, agent);
  const [takeImports, takeSalvages] = maxRequests === undefined ? [] : [maxRequests + 1, MAX_SALVAGES + 1];
  const found = (await findImports(tx, { agent, waiting, take: takeImports })).flatMap(toWantedImport);
  const salvages = await wantedSalvages(tx, agent.id, takeSalvages);
  const imports = maxRequests === undefined ? found : firstThatFit(found.slice(0, maxRequests));
  const isAll = imports.length === found.length && salvages.length <= MAX_SALVAGES;
  if (maxRequests !== undefined && !isAll) {
    const cancelled = await cancelledIds(tx, { agent, waiting });
    return { imports, salvages: salvages.slice(0, MAX_SALVAGES), more: true, cancelled };
  }
  await forgetCancelled(tx, agent);
  return { ...nothingWanted, imports, salvages };
}

interface Asked {
  readonly agent: AgentModel;
  /** Devices at the agent's site that are disabled: their requests wait. A device's own agent is told so by its settings. */
  readonly waiting: readonly string[];
  readonly take?: number | undefined;
}

/** Also a failure that was taken back: its request is cancelled, and the agent still holds the end of it. */
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

async function disabledDevices(tx: Transaction, agent: AgentModel): Promise<string[]> {
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
      requestId: acknowledgedAs(row),
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

/** What an agent may still hold that must not go on with it: cancelled, or of a device that is disabled. */
async function cancelledIds(tx: Transaction, { agent, waiting }: Asked): Promise<string[]> {
  const stopped = { deviceId: { in: [...waiting] }, state: { notIn: [...terminalStates] } };
  const rows = await tx.importRequest.findMany({
    where: { agentId: agent.id, isAcknowledged: false, OR: [{ state: "cancelled", isOver: false }, stopped] },
    select: { id: true },
    orderBy: [{ updatedAtNs: "desc" }, { id: "asc" }],
    take: MAX_CANCELLED,
  });
  return rows.map(({ id }) => id);
}

/** Their absence from a whole set tells it. */
async function forgetCancelled(tx: Transaction, { id }: AgentModel): Promise<void> {
  await tx.importRequest.updateMany({
    where: { agentId: id, isAcknowledged: false, isOver: false, state: "cancelled" },
    data: { isAcknowledged: true },
  });
}
