import { DAMAGE_HEADER } from "@downlink/protocol";
import { type ExportSource, exportBag, exportMcap } from "@downlink/recordings";
import type { Hono } from "hono";
import type { BlobStore } from "../blobs/blob-store.ts";
import { verifyLink } from "../blobs/signed-link.ts";
import type { Deps } from "../context/context.ts";
import { contentDisposition } from "../data-plane/content-disposition.ts";
import { type DataPlaneDeps, logBreak, openLink, ownerOfBlob } from "../data-plane/link-request.ts";
import type { Env } from "../http/env.ts";
import { inSteps } from "../http/in-steps.ts";
import { linkOf } from "../http/in-turn.ts";
import { streamBody } from "../http/stream-response.ts";
import type { Turns } from "../limits/turns.ts";
import { quotaReached } from "../quotas/require-room.ts";
import { type ExportSelection, unpackSelection } from "./export-selection.ts";
import { openIndex, openRecording, openSelection } from "./open-stored.ts";

export const EXPORT_PATH = "/data-plane/exports";

type ExportDeps = DataPlaneDeps & Pick<Deps, "readsWholeChunks" | "metrics" | "turns">;

/** `GET link`: streams the selection; a failure in mid-stream aborts the connection. spec: wire contract §5 */
export function exportRoute(app: Hono<Env>, deps: ExportDeps): void {
  app.get(EXPORT_PATH, async (c) => {
    const claims = openLink(c, deps, verifyLink);
    const selection = unpackSelection(await readPacked(deps.blobs, claims));
    requireTurn(deps.turns, ownerOf(selection), claims);
    const taker = { owner: ownerOf(selection), token: linkOf(c) };
    using _turn = await deps.turns.exports.take(taker, () => c.req.raw.signal);
    const gone = new AbortController();
    const pieces = exported(deps, selection, gone.signal);
    const steps = inSteps(pieces, () => deps.turns.exportSteps.take(taker, () => gone.signal));
    return await streamBody(c, counted(deps, steps), {
      controller: gone,
      headers: {
        "content-type": "application/octet-stream",
        "content-disposition": contentDisposition(selection.fileName),
        ...damageHeaders(selection),
      },
      onFailure: logBreak(c, deps),
    });
  });
}

async function* counted({ metrics }: ExportDeps, pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let outcome = "broken";
  metrics.exportsActive.inc();
  try {
    yield* pieces;
    outcome = "complete";
  } finally {
    metrics.exportsActive.dec();
    metrics.exports.inc({ outcome });
  }
}

function requireTurn({ exports }: Pick<Turns, "exports">, owner: string, { atOnce }: Record<string, string>): void {
  if (atOnce !== undefined && exports.countOf(owner) >= Number(atOnce))
    // in one go with the taking of the turn
    throw quotaReached(`has ${atOnce} exports at once already, as many as it may have`);
}

/** The organization whose objects it reads; a link names no other. */
function ownerOf({ sources }: ExportSelection): string {
  return ownerOfBlob(sources[0]?.blobKey ?? "");
}

/** A viewer on another page may read it too: whoever holds the link may have what is behind it. */
function damageHeaders({ damage }: ExportSelection): Record<string, string> {
  const open = {
    "access-control-allow-origin": "*",
    "access-control-expose-headers": `content-disposition, ${DAMAGE_HEADER}`,
  };
  if (!damage) return open;
  const { reasons, ...sums } = damage;
  const codes = [...new Set(reasons.map(({ code }) => code))];
  return { ...open, [DAMAGE_HEADER]: JSON.stringify({ ...sums, codes }) };
}

async function readPacked(blobs: BlobStore, { selection, selectionKey }: Record<string, string>): Promise<Uint8Array> {
  if (selectionKey === undefined) return Buffer.from(selection ?? "", "base64url");
  await using stored = await openSelection(blobs, selectionKey);
  return await stored.read(0, stored.sizeBytes);
}

function exported(deps: ExportDeps, selection: ExportSelection, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const { topics, startNs, endNs, lastPerChannel, includeAttachments, output } = selection;
  const sources = toSources(deps.blobs, selection);
  const options = {
    topics,
    startNs: toBigInt(startNs),
    endNs: toBigInt(endNs),
    lastPerChannel: lastPerChannel && { lookbackNs: toBigInt(lastPerChannel.lookbackNs) },
    readsWholeChunks: deps.readsWholeChunks,
    signal,
  };
  if (output.format === "bag1") return exportBag(sources, { ...options, compression: output.compression });
  return exportMcap(sources, { ...options, compression: output.compression, includeAttachments });
}

/** What was imported was whole; where nobody has indexed it since, what can be read of it is given, and the rest is told of. */
function toSources(blobs: BlobStore, { sources, topicSets }: ExportSelection): ExportSource[] {
  const topicKeys = topicSets.map((entries) => new Map(entries));
  return sources.map((source) => ({
    fileName: source.fileName,
    startNs: BigInt(source.startNs),
    endNs: BigInt(source.endNs),
    sha256: source.sha256,
    isSalvage: true,
    topicKeys: source.topicSet === undefined ? undefined : topicKeys[source.topicSet],
    open: () => openRecording(blobs, source),
    openIndex: () => openIndex(blobs, source),
  }));
}

function toBigInt(text: string | undefined): bigint | undefined {
  return text === undefined ? undefined : BigInt(text);
}
