import { partRoute, pieceRoute } from "../../data-plane/part-route.ts";
import { type ServedRoutes, serveRoutes } from "../../data-plane/testing/serve-routes.ts";
import { createTurns, turnLimits } from "../../limits/turns.ts";
import type { BlobStore } from "../blob-store.ts";
import type { LinkSigner } from "../signed-link.ts";

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
