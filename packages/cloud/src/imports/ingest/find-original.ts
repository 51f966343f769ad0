// Copies on a device are recognized before they are sent if that is worth it: a wrong guess makes the robot read a file in vain. The
// rejected copy names the first recording (`duplicateOfId`), and a permit accepts the first one's hash for it, unless that is of another
// device. When the first one's data is deleted, its copies are at the edge again.

import type { ImportRequestModel } from "../../db/generated/models.ts";
import type { Transaction } from "../../db/transaction.ts";
import { describeDuplicate } from "./decide-recording.ts";

type EdgeRequest = Pick<ImportRequestModel, "orgId" | "deviceId"> & { readonly recordingId: string };

/** Chooses the older one of several. */
const elder = [{ createdAtNs: "asc" }, { id: "asc" }] as const;

export interface Original {
  readonly id: string;
  /** The key of the object with its data. */
  readonly blobKey: string | null;
  /** Names the recording, as the reason of a rejection. */
  readonly text: string;
}

/**
 * Finds and locks the imported recording of the same device that has the content; undefined if there is none. An agent's claim to have a
 * file is never compared with files of another device or organization, so that the agent learns nothing about those. spec: wire contract §4
 */
export async function findOriginal(
  tx: Transaction,
  request: EdgeRequest,
  content: { readonly sha256: string; readonly size: number },
): Promise<Original | undefined> {
  if (request.deviceId === null) return undefined;
  const where = { ...filterImported(request), contentSha256: content.sha256, sizeBytes: BigInt(content.size) };
  const found = await tx.recording.findFirst({ where, orderBy: [...elder], select: { id: true } });
  if (!found) return undefined;
  await tx.$queryRaw`SELECT id FROM "Recording" WHERE id = ${found.id} FOR UPDATE`;
  const original = await tx.recording.findFirst({
    where: { ...where, id: found.id },
    select: { id: true, path: true, blobKey: true },
  });
  return original ? { ...original, text: describeDuplicate(original) } : undefined;
}

/**
 * Says whether an imported recording of the same device is so similar to the file that it is worth reading the whole file for its hash:
 * same size, span and format, and the same head and tail where both are still known. Recorders write many files of one size, but hardly
 * ever of one span.
 */
export async function mayHaveOriginal(tx: Transaction, request: EdgeRequest): Promise<boolean> {
  if (request.deviceId === null) return false;
  const own = await tx.recording.findUnique({ where: { id: request.recordingId }, include: { edgeFile: true } });
  if (!own?.edgeFile) return false;
  const { sizeBytes, startNs, endNs, format } = own;
  const { headTailSha256 } = own.edgeFile;
  const alike = await tx.recording.findFirst({
    where: {
      ...{ ...filterImported(request), sizeBytes, startNs, endNs, format },
      OR: [{ edgeFile: null }, { edgeFile: { headTailSha256 } }],
    },
    select: { id: true },
  });
  return alike !== null;
}

function filterImported({ orgId, deviceId, recordingId }: EdgeRequest) {
  return {
    orgId,
    deviceId,
    importStatus: "complete",
    isUnverified: false,
    storedDamage: null,
    id: { not: recordingId },
  } as const;
}
