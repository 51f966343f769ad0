import { createHash, randomBytes } from "node:crypto";
import type { Owner } from "../state/owner.ts";

const MARKER_PATTERN = /^card-([\w-]{16})-[\w-]{22}$/;

/** What the markers of one owner's cards have in common; undefined until the control plane has said whose the agent is. */
export function ownerTag({ orgId, deviceId, siteId }: Owner): string | undefined {
  const owner = deviceId ?? siteId;
  if (orgId === undefined || owner === undefined) return undefined;
  return createHash("sha256").update(`${orgId} ${owner}`).digest("base64url").slice(0, 16);
}

/** For a fresh card. Whoever lost all state still sees by it whose the card is. */
export function makeCardMarker(tag: string): string {
  return `card-${tag}-${randomBytes(16).toString("base64url")}`;
}

/** Whether an agent made it that adopts cards. */
export function isCardMarker(markerId: string): boolean {
  return MARKER_PATTERN.test(markerId);
}

export function isCardOf(markerId: string, tag: string): boolean {
  return MARKER_PATTERN.exec(markerId)?.[1] === tag;
}

/** Enough to tell a few cards apart. */
export function shortCard(markerId: string): string {
  return markerId.slice(-6);
}
