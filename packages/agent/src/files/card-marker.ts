import { createHash, randomBytes } from "node:crypto";
import type { Owner } from "../state/owner.ts";

const MARKER_PATTERN = /^card-([\w-]{16})-[\w-]{22}$/;

/** Returns the part that the markers of one owner's cards share; undefined until the control plane has named the owner. */
export function ownerTag({ orgId, deviceId, siteId }: Owner): string | undefined {
  const owner = deviceId ?? siteId;
  if (orgId === undefined || owner === undefined) return undefined;
  return createHash("sha256").update(`${orgId} ${owner}`).digest("base64url").slice(0, 16);
}

/** Makes the marker of a fresh card. An agent that lost all its state still sees by the marker whose the card is. */
export function makeCardMarker(tag: string): string {
  return `card-${tag}-${randomBytes(16).toString("base64url")}`;
}

/** Returns whether the marker was made by an agent that adopts cards. */
export function isCardMarker(markerId: string): boolean {
  return MARKER_PATTERN.test(markerId);
}

export function isCardOf(markerId: string, tag: string): boolean {
  return MARKER_PATTERN.exec(markerId)?.[1] === tag;
}

/** Shortens the id so that people can still distinguish a few cards. */
export function shortCard(markerId: string): string {
  return markerId.slice(-6);
}
