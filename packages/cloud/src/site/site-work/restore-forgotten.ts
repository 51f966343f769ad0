import type { SiteRequestState } from "@downlink/protocol";
import type { SiteCtx } from "../../calls/context/context.ts";
import { ApiError, refuse } from "../../core/errors.ts";
import type { ImportRequestModel } from "../../db/generated/models.ts";
import type { Transaction } from "../../db/transaction.ts";
import type { DescribedRequest } from "../../keeping/manifests/manifest.ts";
import { readRequest } from "../../keeping/manifests/request-manifest.ts";
import { isIndexingHeld } from "../../recovery/adoption-pass.ts";
import { findOwners } from "../../restoring/adoption/find-owners.ts";
import { restoreRequest } from "../../restoring/adoption/restore-rows.ts";

interface Stored {
  readonly requestId: string;
  readonly key: string;
  /** This control plane's description of the request, from before it was restored from a backup. */
  readonly request?: string | undefined;
}

/**
 * Restores the request of a file that a site has had since before the control plane was set back, with its id; the site reads the file
 * again, so that it becomes the recording that it was. Returns `cancelled` if the data was deleted, and then the site removes the file.
 * Returns `unknown` for a request that this control plane never described, or whose project is gone: its file stays at the site.
 */
export async function restoreForgotten(
  tx: Transaction,
  ctx: SiteCtx,
  { requestId, key, request }: Stored,
): Promise<ImportRequestModel | Extract<SiteRequestState, "cancelled" | "unknown">> {
  const { orgId, siteId } = ctx.caller;
  const said = request && readSaid(ctx, requestId, request);
  if (!said || said.orgId !== orgId || said.siteId !== siteId || said.source === "edge") return "unknown";
  if (await isIndexingHeld(tx)) refuse("Unavailable", "what was deleted since the backup is not known yet; try again");
  if ((await tx.siteObject.count({ where: { key } })) > 0 || (await wasDeleted(tx, key))) return "cancelled";
  const nowNs = ctx.clock.nowNs();
  const edgeless = { ...said, kind: "begun", uploadId: key.split("/")[1]!, uploadKind: "stream" } as const;
  const manifest = { ...edgeless, begunAtNs: said.requestedAtNs };
  const owners = await findOwners(tx, manifest, nowNs);
  if (!owners) return "unknown";
  ctx.log.info({ requestId, siteId }, "a request that the database had lost was restored from its site");
  const restored = await restoreRequest(tx, manifest, { owners, recordingId: null, nowNs });
  if (said.projectId !== undefined) return restored;
  return tx.importRequest.update({ where: { id: requestId }, data: { projectId: null } }); // the file says it
}

function readSaid({ signer }: SiteCtx, requestId: string, text: string): DescribedRequest | undefined {
  try {
    return readRequest(signer, requestId, text);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return undefined;
  }
}

async function wasDeleted(tx: Transaction, key: string): Promise<boolean> {
  const [entry] = await tx.$queryRaw<object[]>`
    SELECT FROM "LedgerEntry" WHERE kind = 'Data.delete' AND data ->> 'siteObjectKey' = ${key} LIMIT 1`;
  return entry !== undefined;
}
