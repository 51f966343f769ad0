import { TokenMaker } from "@downlink/protocol";
import type { Ctx } from "../context/context.ts";
import { asParsed } from "../core/complete.ts";
import { invalid } from "../core/errors.ts";
import { hashToken } from "../credentials/mint.ts";
import type { CredentialModel } from "../db/generated/models.ts";

const HINT_CHARACTERS = 4;

interface Making {
  readonly createdBy?: TokenMaker;
  readonly expiresAtNs?: bigint | null;
}

/** The row by which a text opens what the row belongs to. */
export function newCredential(token: string, making: Making = {}) {
  return { tokenSha256: hashToken(token), hint: token.slice(-HINT_CHARACTERS), ...making };
}

interface Asked {
  readonly expiresAt?: bigint | undefined;
}

/** The same of a token that the calling API key makes. What makes a token ends no earlier than it, or a key could outlive itself. */
export async function grantCredential(ctx: Ctx, token: string, { expiresAt }: Asked) {
  const { keyId: id, expiresAtNs: ownEnd } = ctx.caller;
  if (expiresAt !== undefined && expiresAt <= ctx.clock.nowNs()) invalid("expiresAt", "must be in the future");
  const key = await ctx.db.prisma.apiKey.findUnique({ where: { id }, select: { name: true } });
  const expiresAtNs = ownEnd !== null && (expiresAt ?? ownEnd) >= ownEnd ? ownEnd : expiresAt;
  return newCredential(token, { createdBy: { kind: "apiKey", id, name: key?.name }, expiresAtNs });
}

/** Spread into what reads tokens. */
export const withTokenFacts = {
  include: { credential: { select: { hint: true, createdBy: true, lastUsedAtNs: true, expiresAtNs: true } } },
} as const;

export interface WithTokenFacts {
  readonly credential: Pick<CredentialModel, "hint" | "createdBy" | "lastUsedAtNs" | "expiresAtNs"> | null;
}

/** Answers what the contract says of every kind of token. The token itself is shown once, by the verb that makes it. */
export function toTokenFacts({ credential: row }: WithTokenFacts) {
  return {
    token: undefined,
    hint: row?.hint ?? undefined,
    createdBy: asParsed(TokenMaker.safeParse(row?.createdBy).data),
    lastUsedAt: row?.lastUsedAtNs ?? undefined,
    expiresAt: row?.expiresAtNs ?? undefined,
  };
}
