import { writeImported } from "../../keeping/manifests/write-manifests.ts";
import { isOfCustomer } from "../../store/blobs/object-key.ts";
import type { Finish } from "./file-recording.ts";
import { decide } from "./finish-import.ts";
import type { IngestDeps } from "./ingest-deps.ts";
import { IngestError } from "./ingest-failure.ts";
import { replaceLost } from "./replace-lost.ts";
import type { NamedTarget } from "./resolve-target.ts";
import { takeLocation } from "./take-location.ts";

/** The values that the last transaction uses. */
type Described = Pick<Finish, "request" | "hasManifest">;

/**
 * Writes into the store what the object becomes, before the rows say so: a database that is restored from a backup finds it there. Nothing
 * is written for a refused file, nor for one that becomes no recording because the same is imported already.
 */
export async function describeImport(deps: IngestDeps, finish: Finish, signal: AbortSignal): Promise<Described> {
  const { request } = finish;
  const { named, decision } = await decide(deps.db.prisma, finish);
  const replacing =
    (await takeLocation(deps, finish, named)) ?? (await replaceLost(deps, { request, decision, signal }));
  if (replacing) return describeImport(deps, { ...finish, request: replacing }, signal);
  if (decision.kind !== "new") return { request, hasManifest: false };
  // An object in a customer's bucket has no manifest: after a restore the listing of the bucket finds it again.
  if (!isOfCustomer(request.blobKey!)) await describe(deps, finish, named);
  return { request, hasManifest: true };
}

async function describe(deps: IngestDeps, finish: Finish, named: NamedTarget): Promise<void> {
  const { request, summary, contentSha256: sha256, nowNs: importedAtNs } = finish;
  const isSame = await writeImported(deps, request.blobKey!, {
    sha256,
    sizeBytes: BigInt(summary.sizeBytes),
    format: summary.format,
    startNs: summary.startNs,
    endNs: summary.endNs,
    messageCount: BigInt(summary.messageCount),
    indexKey: request.indexKey!,
    importedAtNs,
    named: describeTarget(named),
    sessionKey: summary.identity.sessionKey,
  });
  if (!isSame)
    throw new IngestError("ContentMismatch", "the stored bytes have changed since an earlier attempt read them");
}

function describeTarget({ projectId, device, newDeviceName, key }: NamedTarget) {
  return { projectId, deviceId: device?.id, deviceName: device?.name ?? newDeviceName, key };
}
