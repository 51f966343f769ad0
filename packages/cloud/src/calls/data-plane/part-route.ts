import { base64Of } from "@downlink/protocol";
import type { Context, Hono } from "hono";
import type { LinkSigner } from "../../core/signed-link.ts";
import type { Turns } from "../../process/limits/turns.ts";
import { DigestMismatchError } from "../../store/blobs/blob-errors.ts";
import type { BlobStore } from "../../store/blobs/blob-store.ts";
import { PART_PATH_PREFIX, PIECE_PATH_PREFIX, readPartLink, readPieceLink } from "../../store/blobs/part-link.ts";
import type { Env } from "../connections/env.ts";
import { newGoneSignal } from "../connections/new-gone-signal.ts";
import { openLink, ownerOfBlob } from "./link-request.ts";
import { requestBody } from "./request-body.ts";

/** The dependencies of the part route: it needs no database, so that it can run in another process or at another site. */
export interface PartRouteDeps {
  readonly blobs: Pick<BlobStore, "receivePart" | "receivePiece">;
  readonly signer: LinkSigner;
  readonly clock: { nowNs(): bigint };
  readonly turns: Pick<Turns, "uploads">;
}

/**
 * Serves the `PUT` of one part to the target that `grantParts` signed: 200 once the part is durable. A store with targets of its own has no
 * such route.
 */
export function partRoute(app: Hono<Env>, deps: PartRouteDeps): void {
  const { receivePart } = deps.blobs;
  if (!receivePart) return;
  app.put(`${PART_PATH_PREFIX}*`, async (c) => {
    c.set("path", `${PART_PATH_PREFIX}{key}`);
    const { key, part } = openLink(c, deps, readPartLink);
    checkContentLength(c, part);
    using _turn = await deps.turns.uploads.take({ owner: ownerOfBlob(key) }, () => newGoneSignal(c));
    await receivePart(key, part, requestBody(c));
    c.header("ETag", `"${Buffer.from(base64Of(part.digest), "base64").toString("hex")}"`);
    return c.json({ number: part.number });
  });
}

/** Serves the `PUT` of one piece of a part to the target that `grantPieces` signed. */
export function pieceRoute(app: Hono<Env>, deps: PartRouteDeps): void {
  const { receivePiece } = deps.blobs;
  if (!receivePiece) return;
  app.put(`${PIECE_PATH_PREFIX}*`, async (c) => {
    c.set("path", `${PIECE_PATH_PREFIX}{key}`);
    const { key, piece } = openLink(c, deps, readPieceLink);
    checkContentLength(c, piece);
    using _turn = await deps.turns.uploads.take({ owner: ownerOfBlob(key) }, () => newGoneSignal(c));
    await receivePiece(key, piece, requestBody(c));
    return c.json({ partNumber: piece.partNumber, offset: piece.offset });
  });
}

/** A wrong length is refused before the body is read; a chunked body has no length and is counted as it comes. */
function checkContentLength(c: Context<Env>, part: { readonly lengthBytes: number }): void {
  const announced = c.req.header("content-length");
  if (announced !== undefined && Number(announced) !== part.lengthBytes)
    throw new DigestMismatchError(`the link is for ${part.lengthBytes} bytes, Content-Length says ${announced}`);
}
