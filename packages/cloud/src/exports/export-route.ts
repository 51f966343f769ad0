import { exportMcap } from "@downlink/recordings";
import type { Hono } from "hono";
import type { Logger } from "pino";
import type { BlobStore } from "../blobs/blob-store.ts";
import { type LinkSigner, verifyLink } from "../blobs/signed-link.ts";
import type { Clock } from "../context.ts";
import { streamBody } from "../data-plane/stream-response.ts";
import type { Env } from "../http/env.ts";
import { decodeSelection, type ExportSelection } from "./export-selection.ts";

export const EXPORT_PATH = "/data-plane/exports";

/** What the data plane needs: no database, so that it can run in another process or at another site. */
export interface ExportDeps {
  readonly blobs: BlobStore;
  readonly signer: LinkSigner;
  readonly clock: Clock;
  readonly log: Logger;
}

/** `GET link`: streams the selection as MCAP; a failure in mid-stream aborts the connection. spec: wire contract §5 */
export function exportRoute(app: Hono<Env>, deps: ExportDeps): void {
  app.get(EXPORT_PATH, async (c) => {
    const nowMs = Number(deps.clock.nowNs() / 1_000_000n);
    const query = new URL(c.req.url).searchParams;
    const selection = decodeSelection(
      verifyLink(deps.signer, { method: c.req.method, path: c.req.path, query, nowMs }),
    );
    const gone = new AbortController();
    return streamBody(c, exported(deps.blobs, selection, gone.signal), {
      controller: gone,
      headers: { "content-type": "application/octet-stream" },
      onFailure: (error) => deps.log.error({ err: error, requestId: c.get("requestId") }, "an export broke off"),
    });
  });
}

async function* exported(
  blobs: BlobStore,
  selection: ExportSelection,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  await using source = await blobs.open(selection.blobKey);
  yield* exportMcap(source, {
    fileName: selection.fileName,
    topics: selection.topics,
    startNs: toBigInt(selection.startNs),
    endNs: toBigInt(selection.endNs),
    compression: selection.compression,
    includeAttachments: selection.includeAttachments,
    signal,
  });
}

function toBigInt(text: string | undefined): bigint | undefined {
  return text === undefined ? undefined : BigInt(text);
}
