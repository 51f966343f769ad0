import type { Hono } from "hono";
import type { Logger } from "pino";
import type { BlobStore } from "../blobs/blob-store.ts";
import { type LinkSigner, signLink, verifyLink } from "../blobs/signed-link.ts";
import type { Clock } from "../context.ts";
import { sendBlob } from "../data-plane/download.ts";
import type { Env } from "../http/env.ts";

const PATH = "/data-plane/extensions";
const LINK_LIFE_MS = 15 * 60_000;

interface Stored {
  readonly blobKey: string;
  readonly sha256: string;
  readonly fileName: string;
}

/** A link to a package, good for 15 minutes. It carries all that the download needs. */
export function packageLink(
  deps: { signer: LinkSigner; clock: Clock; publicUrl: () => string },
  { blobKey, sha256, fileName }: Stored,
): string {
  const path = `${PATH}/${blobKey.split("/").at(-1)}`;
  const expiresAtMs = Number(deps.clock.nowNs() / 1_000_000n) + LINK_LIFE_MS;
  const claims = { blobKey, sha256, fileName };
  return `${deps.publicUrl()}${path}?${signLink(deps.signer, { method: "GET", path, claims, expiresAtMs })}`;
}

/** What the data plane needs: no database. */
export interface DownloadDeps {
  readonly blobs: BlobStore;
  readonly signer: LinkSigner;
  readonly clock: Clock;
  readonly log: Logger;
}

/** `GET foxe`: whole or in ranges. */
export function downloadRoute(app: Hono<Env>, deps: DownloadDeps): void {
  app.get(`${PATH}/:id`, async (c) => {
    const nowMs = Number(deps.clock.nowNs() / 1_000_000n);
    const query = new URL(c.req.url).searchParams;
    const claims = verifyLink(deps.signer, { method: c.req.method, path: c.req.path, query, nowMs });
    return sendBlob(c, await deps.blobs.open(claims.blobKey!), {
      etag: claims.sha256!,
      mediaType: "application/octet-stream",
      fileName: claims.fileName!,
      onFailure: (error) => deps.log.error({ err: error, requestId: c.get("requestId") }, "a download broke off"),
    });
  });
}
