import { partRoute, pieceRoute } from "../../../calls/data-plane/part-route.ts";
import { type ServedRoutes, serveRoutes } from "../../../calls/data-plane/testing/serve-routes.ts";
import type { LinkSigner } from "../../../core/signed-link.ts";
import { createTurns, turnLimits } from "../../../process/limits/turns.ts";
import type { BlobStore } from "../blob-store.ts";

interface Serving {
  readonly signer: LinkSigner;
  readonly clock: { nowNs(): bigint };
  readonly blobs: Pick<BlobStore, "receivePart" | "receivePiece">;
}

/** Serves the routes that parts and pieces are sent to, on a free port. */
export function serveParts(serving: Serving): Promise<ServedRoutes> {
  const deps = { ...serving, turns: createTurns(turnLimits) };
  return serveRoutes((app) => {
    partRoute(app, deps);
    pieceRoute(app, deps);
  });
}
