import { exportBag, exportMcap } from "@downlink/recordings";
import type { Hono } from "hono";
import type { BlobStore } from "../blobs/blob-store.ts";
import { verifyLink } from "../blobs/signed-link.ts";
import { type DataPlaneDeps, linkRequest, logBreak } from "../data-plane/link-request.ts";
import type { Env } from "../http/env.ts";
import { streamBody } from "../http/stream-response.ts";
import { type ExportSelection, unpackSelection } from "./export-selection.ts";

export const EXPORT_PATH = "/data-plane/exports";

/** `GET link`: streams the selection; a failure in mid-stream aborts the connection. spec: wire contract §5 */
export function exportRoute(app: Hono<Env>, deps: DataPlaneDeps): void {
  app.get(EXPORT_PATH, async (c) => {
    const claims = verifyLink(deps.signer, linkRequest(c, deps.clock));
    const selection = unpackSelection(await readPacked(deps.blobs, claims));
    const gone = new AbortController();
    return streamBody(c, exported(deps.blobs, selection, gone.signal), {
      controller: gone,
      headers: { "content-type": "application/octet-stream" },
      onFailure: logBreak(c, deps),
    });
  });
}

async function readPacked(blobs: BlobStore, { selection, selectionKey }: Record<string, string>): Promise<Uint8Array> {
  if (selectionKey === undefined) return Buffer.from(selection ?? "", "base64url");
  await using stored = await blobs.open(selectionKey);
  return await stored.read(0, stored.sizeBytes);
}

function exported(blobs: BlobStore, selection: ExportSelection, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const { topics, startNs, endNs, lastPerChannel, includeAttachments, output } = selection;
  const sources = selection.sources.map((source) => ({
    fileName: source.fileName,
    startNs: BigInt(source.startNs),
    endNs: BigInt(source.endNs),
    open: () => blobs.open(source.blobKey),
  }));
  const options = {
    topics,
    startNs: toBigInt(startNs),
    endNs: toBigInt(endNs),
    lastPerChannel: lastPerChannel && { lookbackNs: toBigInt(lastPerChannel.lookbackNs) },
    signal,
  };
  if (output.format === "bag1") return exportBag(sources, { ...options, compression: output.compression });
  return exportMcap(sources, { ...options, compression: output.compression, includeAttachments });
}

function toBigInt(text: string | undefined): bigint | undefined {
  return text === undefined ? undefined : BigInt(text);
}
