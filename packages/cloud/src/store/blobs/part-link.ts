import { algorithmOf, base64Of, digestOf } from "@downlink/protocol";
import { ApiError } from "../../core/errors.ts";
import { type LinkRequest, type LinkSigner, signLink, verifyLink } from "../../core/signed-link.ts";
import type { PartGrant, PartPlan, PieceGrant, PiecePlan, SentBytes } from "./blob-store.ts";

/** The parts of a file store are sent to paths below this one: `<prefix><key>/<part number>`. */
export const PART_PATH_PREFIX = "/data-plane/parts/";

/** Pieces are sent to paths below this one: `<prefix><key>/<part number>/<offset>`. */
export const PIECE_PATH_PREFIX = "/data-plane/pieces/";

const PIECE_PATH = /^\/data-plane\/pieces\/(?<key>[a-z0-9_/-]+)\/(?<number>\d{1,5})\/(?<offset>\d{1,16})$/;
const PART_PATH = /^\/data-plane\/parts\/(?<key>[a-z0-9_/-]+)\/(?<number>\d{1,5})$/;

export interface PartLinks {
  readonly signer: LinkSigner;
  /** The address has no slash at the end. */
  readonly publicUrl: string;
  readonly expiresAtMs: number;
}

/** Signs a target for exactly these bytes. */
export function grantPart(links: PartLinks, key: string, part: PartPlan): PartGrant {
  const url = signPut(links, `${PART_PATH_PREFIX}${key}/${part.number}`, part);
  return { number: part.number, url, headers: {} };
}

export function grantPiece(links: PartLinks, key: string, piece: PiecePlan): PieceGrant {
  const { partNumber, offset } = piece;
  const url = signPut(links, `${PIECE_PATH_PREFIX}${key}/${partNumber}/${offset}`, piece);
  return { offset, url, headers: {} };
}

function signPut(links: PartLinks, path: string, { digest, lengthBytes, keepsBeginning }: SentBytes): string {
  const keeps: Record<string, string> = keepsBeginning ? { keeps: "beginning" } : {};
  const claims = { [algorithmOf(digest)]: base64Of(digest), length: String(lengthBytes), ...keeps };
  const query = signLink(links.signer, { method: "PUT", path, claims, expiresAtMs: links.expiresAtMs });
  return `${links.publicUrl}${path}?${query}`;
}

/** Returns the part that a request may send by its link. Throws as `verifyLink` does. */
export function readPartLink(signer: LinkSigner, request: LinkRequest): { key: string; part: PartPlan } {
  const claims = verifyLink(signer, request);
  const found = PART_PATH.exec(request.path)?.groups;
  if (!found) throw new ApiError("InvalidLink", "this is no link to a part");
  return { key: found.key!, part: { number: Number(found.number), ...bytesOf(claims) } };
}

export function readPieceLink(signer: LinkSigner, request: LinkRequest): { key: string; piece: PiecePlan } {
  const claims = verifyLink(signer, request);
  const found = PIECE_PATH.exec(request.path)?.groups;
  if (!found) throw new ApiError("InvalidLink", "this is no link to a piece of a part");
  return {
    key: found.key!,
    piece: { partNumber: Number(found.number), offset: Number(found.offset), ...bytesOf(claims) },
  };
}

function bytesOf({ md5, sha256, length, keeps }: Readonly<Record<string, string>>): SentBytes {
  const keepsBeginning = keeps === "beginning" ? { keepsBeginning: true } : {};
  return { digest: digestOf({ md5, sha256 }), lengthBytes: Number(length), ...keepsBeginning };
}
