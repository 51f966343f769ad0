// Copies on a device are recognized before they are sent where that pays: `open` asks for the whole SHA-256 only if
// an imported recording of this very device has the same size, span, format and, where both are still known, head
// and tail, because a wrong guess makes the robot read a file for nothing. A claimed hash is compared with that
// device's recordings alone, so that it reveals nothing else. The rejected copy names the first (`duplicateOfId`),
// its bytes go, and a permit takes the first's hash for it, unless that is of another device. When the first's data
// is deleted, its copies are at the edge again as if nobody had asked.

import type { ImportRequestModel } from "../db/generated/models.ts";
import type { Transaction } from "../db/transaction.ts";
import { describeDuplicate } from "./which-recording.ts";

type EdgeRequest = Pick<ImportRequestModel, "orgId" | "deviceId"> & { readonly recordingId: string };

/** The elder of several. */
const elder = [{ createdAtNs: "asc" }, { id: "asc" }] as const;

export interface Original {
  readonly id: string;
  /** Names it, as the reason of a rejection. */
  readonly text: string;
}

/**
 * The imported recording of the same device that has the content, locked; undefined where there is none. What an agent claims to have is
 * compared with nothing of another device or organization: it learns nothing of those. spec: wire contract §4
 */
export async function findOriginal(
  tx: Transaction,
  request: EdgeRequest,
  content: { readonly sha256: string; readonly size: number },
): Promise<Original | undefined> {
  if (request.deviceId === null) return undefined;
  const where = { ...importedByDevice(request), contentSha256: content.sha256, sizeBytes: BigInt(content.size) };
  const found = await tx.recording.findFirst({ where, orderBy: [...elder], select: { id: true } });
  if (!found) return undefined;
  await tx.$queryRaw`SELECT id FROM "Recording" WHERE id = ${found.id} FOR UPDATE`;
  const original = await tx.recording.findFirst({
    where: { ...where, id: found.id },
    select: { id: true, path: true },
  });
  return original ? { id: original.id, text: describeDuplicate(original) } : undefined;
}

/**
 * Whether an imported recording of the same device looks so much like the file that it pays to read all of that for its hash: same size,
 * span and format, and the same head and tail where both are still known. Recorders write many files of one size, hardly ever of one span.
 */
export async function mayHaveOriginal(tx: Transaction, request: EdgeRequest): Promise<boolean> {
  if (request.deviceId === null) return false;
  const own = await tx.recording.findUnique({ where: { id: request.recordingId }, include: { edgeFile: true } });
  if (!own?.edgeFile) return false;
  const { sizeBytes, startNs, endNs, format } = own;
  const { headTailSha256 } = own.edgeFile;
  const alike = await tx.recording.findFirst({
    where: {
      ...{ ...importedByDevice(request), sizeBytes, startNs, endNs, format },
      OR: [{ edgeFile: null }, { edgeFile: { headTailSha256 } }],
    },
    select: { id: true },
  });
  return alike !== null;
}

function importedByDevice({ orgId, deviceId, recordingId }: EdgeRequest) {
  return { orgId, deviceId, importStatus: "complete", id: { not: recordingId } } as const;
}
