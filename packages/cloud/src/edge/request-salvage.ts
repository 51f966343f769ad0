import type { api, Input, Requester } from "@downlink/protocol";
import { contextOf, type TransactionContext } from "../background/jobs/transaction-context.ts";
import type { Ctx } from "../calls/context/context.ts";
import { refuse, throwNotFound } from "../core/errors.ts";
import type { EdgeFileModel } from "../db/generated/models.ts";
import { newId } from "../db/ids.ts";
import { type Transaction, withTransaction } from "../db/transaction.ts";
import { queueImport } from "../import-life/queue-imports.ts";
import { findRequester } from "../organization/api-keys/find-requester.ts";
import { visibleTo } from "../organization/projects/find-project.ts";
import { isServed, readServedProjects } from "./standing/served-projects.ts";

/**
 * Asks the agent to salvage what is readable of a file, and returns the file's id. If the salvage is being made, this changes nothing; if
 * it was made already, its recording is requested again.
 */
export async function requestSalvage(ctx: Ctx, { id, priority }: Input<typeof api.edgeFiles.salvage>): Promise<string> {
  const file = await ctx.db.prisma.edgeFile.findFirst({ where: { AND: [{ id }, visibleTo(ctx)] } });
  if (!file) throwNotFound(`edge file ${id}`);
  await withTransaction(ctx.db, async (tx) => {
    await tx.$queryRaw`SELECT id FROM "EdgeFile" WHERE id = ${id} FOR UPDATE`;
    const locked = (await tx.edgeFile.findUnique({ where: { id } })) ?? throwNotFound(`edge file ${id}`);
    const requestedBy = await findRequester(tx, ctx);
    await requireServed(tx, locked);
    await ask(contextOf(tx, ctx), { file: locked, priority, requestedBy });
  });
  return id;
}

/** A salvage is a new file: in a project that the site does not serve any more it would have no owner. */
async function requireServed(tx: Transaction, { agentId, projectId, path }: EdgeFileModel): Promise<void> {
  const served = await readServedProjects(tx, await tx.agent.findUniqueOrThrow({ where: { id: agentId } }));
  if (projectId !== null && !isServed(served, projectId))
    refuse("Conflict", `the site that has the file "${path}" is not for its project any more`);
}

interface Asking {
  readonly file: EdgeFileModel;
  readonly priority: number;
  readonly requestedBy: Requester;
}

async function ask(context: TransactionContext, { file, priority, requestedBy }: Asking): Promise<void> {
  const { tx, nowNs } = context;
  const { orgId, agentId, versionId, path, sizeBytes, modifiedAtNs, salvageStartNs: startNs } = file;
  if (file.state !== "incomplete" && file.state !== "damaged")
    refuse("Conflict", `the file "${path}" is ${file.state}; only an incomplete or damaged one can be salvaged`);
  if (startNs === null) refuse("Conflict", `no message of the file "${path}" can be read: there is nothing to salvage`);
  const known = await tx.salvageRequest.findUnique({ where: { agentId_versionId: { agentId, versionId } } });
  if (known?.state === "requested") return;
  const made = known?.state === "made" ? known.recordingId : null;
  if (made !== null && (await isThere(tx, made))) {
    await queueImport(context, { recordingId: made, priority, requestedBy });
    return;
  }
  const asked = {
    state: "requested",
    priority,
    reasonCode: null,
    reasonText: null,
    recordingId: null,
    updatedAtNs: nowNs,
  } as const;
  const facts = { orgId, path, sizeBytes, modifiedAtNs, startNs };
  await tx.salvageRequest.upsert({
    where: { agentId_versionId: { agentId, versionId } },
    create: { ...asked, ...facts, id: newId("slv"), agentId, versionId, createdAtNs: nowNs },
    update: { ...asked, ...facts, id: newId("slv") }, // a new id, for an agent that has not seen the end of the old request
  });
}

/** Says whether the salvage is imported, or is on the device and can be imported again. */
async function isThere(tx: Transaction, recordingId: string): Promise<boolean> {
  const recording = await tx.recording.findUnique({ where: { id: recordingId }, include: { edgeFile: true } });
  return recording !== null && (recording.edgeFile !== null || recording.importStatus === "complete");
}
