import { DAMAGE_HEADER, MISSING_HEADER } from "@downlink/protocol";
import type { Hono } from "hono";
import type { Env } from "../../calls/connections/env.ts";
import { openMadeLink } from "../../calls/data-plane/made-link.ts";
import type { BlobStore } from "../../store/blobs/blob-store.ts";
import { unpackSelection } from "./export-selection.ts";
import { openSelection } from "./open-stored.ts";
import { type ExportDeps, streamSelection } from "./stream-selection.ts";

export const EXPORT_PATH = "/data-plane/exports";

/** A viewer on another page may read the stream too, because the holder of a link may have the data behind it. */
const OPEN_TO_PAGES = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": `content-disposition, ${DAMAGE_HEADER}, ${MISSING_HEADER}`,
};

/** `GET link`: streams the selection that the link carries or names. spec: wire contract §5 */
export function exportRoute(
  app: Hono<Env>,
  deps: ExportDeps,
  readStored: ReadSelection = (key) => readObject(deps.blobs, key),
): void {
  app.get(EXPORT_PATH, async (c) => {
    using link = await openMadeLink(c, deps);
    const { claims, gone } = link;
    const selection = unpackSelection(await readPacked(claims, readStored));
    const atOnce = claims.atOnce === undefined ? undefined : Number(claims.atOnce);
    return await streamSelection(c, deps, { selection, atOnce, headers: OPEN_TO_PAGES, gone });
  });
}

/** Reads a selection that was too long for its link. */
type ReadSelection = (key: string) => Promise<Uint8Array>;

async function readPacked(
  { selection, selectionKey }: Record<string, string>,
  readStored: ReadSelection,
): Promise<Uint8Array> {
  return selectionKey === undefined ? Buffer.from(selection ?? "", "base64url") : await readStored(selectionKey);
}

async function readObject(blobs: BlobStore, key: string): Promise<Uint8Array> {
  await using stored = await openSelection(blobs, key);
  return await stored.read(0, stored.sizeBytes);
}
