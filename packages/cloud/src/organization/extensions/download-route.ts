import type { Hono } from "hono";
import type { Env } from "../../calls/connections/env.ts";
import type { Ctx } from "../../calls/context/context.ts";
import { sendBlob } from "../../calls/data-plane/download.ts";
import { type DataPlaneDeps, logBreak } from "../../calls/data-plane/link-request.ts";
import { openMadeLink } from "../../calls/data-plane/made-link.ts";
import { DOWNLOAD_LIFE_MS, makeLink } from "../../core/signed-link.ts";

const PATH = "/data-plane/extensions";

interface Stored {
  readonly blobKey: string;
  readonly sha256: string;
  readonly fileName: string;
}

/** Makes a link to a package, valid for 15 minutes. It carries all that the download needs. */
export function packageLink(
  deps: Pick<Ctx, "signer" | "clock" | "publicUrl" | "caller">,
  { blobKey, sha256, fileName }: Stored,
): string {
  const path = `${PATH}/${blobKey.split("/").at(-1)}`;
  return makeLink(deps, { method: "GET", path, claims: { blobKey, sha256, fileName }, lifeMs: DOWNLOAD_LIFE_MS }).link;
}

/** Serves `GET foxe`: whole or in ranges. */
export function downloadRoute(app: Hono<Env>, deps: DataPlaneDeps): void {
  app.get(`${PATH}/:id`, async (c) => {
    using link = await openMadeLink(c, deps);
    const { claims, gone } = link;
    return await sendBlob(c, await deps.blobs.open(claims.blobKey!), {
      etag: claims.sha256!,
      mediaType: "application/octet-stream",
      fileName: claims.fileName!,
      controller: gone,
      onFailure: logBreak(c, deps),
    });
  });
}
