import type { api, Input, Output } from "@downlink/protocol";
import type { SiteCtx } from "../../calls/context/context.ts";
import type { ImportRequestModel } from "../../db/generated/models.ts";
import type { Transaction } from "../../db/transaction.ts";
import { IngestError } from "../../imports/ingest/ingest-failure.ts";
import { quarantineImport } from "../../imports/ingest/ingest-outcomes.ts";
import { provenanceOf } from "../../imports/ingest/make-salvage.ts";
import { signRequest } from "../../keeping/manifests/request-manifest.ts";
import { withSiteLease } from "./site-lease.ts";

type Salvage = Output<(typeof api.site)["work"]>["salvages"][number];
type Failed = Input<(typeof api.site)["report"]>["failed"][number];

const MOST = 20;

/** Finds the salvages that the site is to make, of files that it has. A file that is being imported again may be whole. */
export async function findSalvages(tx: Transaction, { caller: { siteId }, signer }: SiteCtx): Promise<Salvage[]> {
  const rows = await tx.importRequest.findMany({
    where: { siteId, state: "awaiting", salvageOf: { siteId, siteObjectKey: { not: null }, state: "error" } },
    orderBy: { id: "asc" },
    include: { salvageOf: true },
    take: MOST,
  });
  return rows.map(({ salvageOf: source, ...request }) => ({
    ...{ requestId: request.id, attempt: request.attempts + 1, request: signRequest(signer, request) },
    ...{ key: source!.siteObjectKey!, filename: source!.filename },
    facts: provenanceOf(source!, source!.sizeBytes ?? 0n),
  }));
}

/** Ends a salvage of which nothing came, if its request awaits this very attempt. */
export async function failSalvage(ctx: SiteCtx, { requestId, attempt, code, text }: Failed): Promise<void> {
  const { siteId } = ctx.caller;
  const request = await withSiteLease(ctx, async (tx): Promise<ImportRequestModel | null> => {
    const where = { id: requestId, siteId, source: "salvage", state: "awaiting", attempts: attempt - 1 } as const;
    const { count } = await tx.importRequest.updateMany({ where, data: { attempts: attempt } });
    return count === 0 ? null : tx.importRequest.findUnique({ where: { id: requestId } });
  });
  if (request) await quarantineImport(ctx, request, new IngestError(code, text));
}
