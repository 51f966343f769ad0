import type { EdgeItem } from "@downlink/protocol";
import type { AgentModel } from "../../db/generated/models.ts";
import { insertRows } from "../../db/insert-rows.ts";
import type { Transaction } from "../../db/transaction.ts";
import { AUTO_IMPORT_PRIORITY, importRequestRow } from "../../import-life/import-request-rows.ts";
import { deliverySitesOf } from "../../organization/projects/primary-site.ts";
import { agentRequester } from "../standing/agent-requester.ts";
import { readServedProjects } from "../standing/served-projects.ts";

interface Reported {
  readonly agent: AgentModel;
  readonly items: readonly EdgeItem[];
  readonly nowNs: bigint;
}

/**
 * Requests the import of files that match the agent's globs. This happens once for a recording, however often it is reported: if it was
 * ever requested, cancelled or deleted, a person has decided. Nothing is requested in a project that the agent's site does not serve any
 * more.
 */
export async function requestAutoImports(tx: Transaction, { agent, items, nowNs }: Reported): Promise<void> {
  const wanted = items.filter((item) => item.state === "indexed" && item.wantsImport);
  if (wanted.length === 0) return;
  const ids = await lockUntouched(tx, { agent, items: wanted, nowNs });
  if (ids.length === 0) return;
  const recordings = await tx.recording.findMany({
    where: { id: { in: ids } },
    include: { edgeFile: true, device: true },
  });
  const projectIds = recordings.map(({ projectId }) => projectId);
  const siteOf = await deliverySitesOf(tx, agent.orgId, projectIds);
  const requestedBy = { ...(await agentRequester(tx, agent)), kind: "autoImport" } as const;
  const rows = recordings.map((recording) =>
    importRequestRow({
      recording,
      edgeFile: recording.edgeFile!,
      siteId: siteOf(recording.projectId),
      deviceName: recording.device?.name,
      priority: AUTO_IMPORT_PRIORITY,
      requestedBy,
      nowNs,
    }),
  );
  await insertRows(tx, "ImportRequest", rows);
  await tx.recording.updateMany({ where: { id: { in: ids } }, data: { importStatus: "pending" } });
}

/**
 * Finds the recordings at the edge for which there never was a request, and locks them in the order in which every transaction locks
 * several.
 */
async function lockUntouched(tx: Transaction, { agent, items, nowNs }: Reported): Promise<string[]> {
  const versionIds = items.map(({ versionId }) => versionId);
  const served = (await readServedProjects(tx, agent)) ?? null;
  const rows = await tx.$queryRaw<{ id: string }[]>`
    SELECT r.id FROM unnest(${versionIds}::text[]) v(id)
    JOIN "EdgeFile" f ON f."agentId" = ${agent.id} AND f."versionId" = v.id
      AND coalesce(f."permitExpiresAtNs", 0) <= ${nowNs}
    JOIN "Recording" r ON r.id = f."recordingId"
    WHERE r."importStatus" = 'none' AND (${served}::text[] IS NULL OR r."projectId" = ANY(${served}::text[]))
      AND NOT EXISTS (SELECT FROM "ImportRequest" i WHERE i."recordingId" = r.id)
    ORDER BY r.id FOR UPDATE OF r`;
  return rows.map(({ id }) => id);
}
