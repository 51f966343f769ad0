import { Prisma } from "../../db/generated/client.ts";
import type { Transaction } from "../../db/transaction.ts";
import { findLocked, type LockedRecording } from "../../import-life/lock-recording.ts";
import type { Manifest } from "../../keeping/manifests/manifest.ts";

/**
 * Finds the recording that an upload is for, and locks it. Returns undefined if the database has lost it. If an agent has reported the file
 * again already, that made another recording, which now gets the id of the lost one, because users and programs know that id.
 */
export async function findRecording(tx: Transaction, manifest: Manifest): Promise<LockedRecording | undefined> {
  await takeTurnWithReports(tx, manifest);
  const found = await findLocked(tx, manifest.recordingId);
  if (found) return found;
  const again = await findReportedAgain(tx, manifest);
  if (again === undefined || !(await findLocked(tx, again))) return undefined;
  await tx.$executeRaw`UPDATE "Recording" SET id = ${manifest.recordingId} WHERE id = ${again}`; // foreign keys follow by ON UPDATE CASCADE
  await tx.$executeRaw`UPDATE "Recording" SET "duplicateOfId" = ${manifest.recordingId} WHERE "duplicateOfId" = ${again}`;
  return (await findLocked(tx, manifest.recordingId)) ?? undefined;
}

/**
 * A report of the file ends before this, or begins after the end of the transaction, because a report locks the row of its agent first. Side
 * by side neither would see the recording that the other one makes of the file.
 */
async function takeTurnWithReports(tx: Transaction, manifest: Manifest): Promise<void> {
  if (!manifest.edge) return;
  await tx.$queryRaw`SELECT id FROM "Agent" WHERE id IN (${agentsOf(manifest, manifest.edge)}) ORDER BY id FOR NO KEY UPDATE`;
}

/** The device may have enrolled again, as another agent. */
function agentsOf({ orgId, deviceId }: Manifest, { agentId, siteId }: NonNullable<Manifest["edge"]>): Prisma.Sql {
  return Prisma.sql`SELECT id FROM "Agent" WHERE "orgId" = ${orgId}
    AND (id = ${agentId} OR "deviceId" = ${deviceId ?? null} OR "siteId" = ${siteId ?? null})`;
}

/** Finds the file by its version, which is random and therefore unique. */
async function findReportedAgain(tx: Transaction, manifest: Manifest): Promise<string | undefined> {
  const { edge } = manifest;
  if (!edge) return undefined;
  const rows = await tx.$queryRaw<{ recordingId: string }[]>`
    SELECT f."recordingId" FROM "EdgeFile" f JOIN "Recording" r ON r.id = f."recordingId"
    WHERE f."agentId" IN (${agentsOf(manifest, edge)}) AND f."versionId" = ${edge.versionId} AND r."blobKey" IS NULL`;
  return rows[0]?.recordingId;
}
