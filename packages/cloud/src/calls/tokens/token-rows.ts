import { TokenMaker } from "@downlink/protocol";
import { callerId } from "../../core/callers.ts";
import { toComplete } from "../../core/complete.ts";
import { invalid } from "../../core/errors.ts";
import type { CredentialModel } from "../../db/generated/models.ts";
import { findName } from "../../process/credentials/find-name.ts";
import { hashToken } from "../../process/credentials/mint.ts";
import type { Ctx } from "../context/context.ts";

const HINT_CHARACTERS = 4;

interface Making {
  readonly createdBy?: TokenMaker;
  readonly expiresAtNs?: bigint | null;
}

/** Makes the row by which a token gives access to what it belongs to. */
export function newCredential(token: string, making: Making = {}) {
  return { tokenSha256: hashToken(token), hint: token.slice(-HINT_CHARACTERS), ...making };
}

interface Asked {
  readonly expiresAt?: bigint | undefined;
}

/**
 * Makes the row for a token that the caller makes. A token ends no later than the key that made it, or a key could outlive itself.
 */
export async function grantCredential(ctx: Ctx, token: string, { expiresAt }: Asked) {
  const { kind, expiresAtNs: ownEnd } = ctx.caller;
  if (expiresAt !== undefined && expiresAt <= ctx.clock.nowNs()) invalid("expiresAt", "must be in the future");
  const maker = { kind, id: callerId(ctx.caller), name: await findName(ctx.db.prisma, ctx.caller) };
  const createdBy = ctx.caller.kind === "apiKey" && ctx.caller.isCommandLine ? undefined : maker;
  const expiresAtNs = ownEnd !== null && (expiresAt ?? ownEnd) >= ownEnd ? ownEnd : expiresAt;
  return newCredential(token, { createdBy, expiresAtNs });
}

/** These relations are spread into queries that read tokens. */
export const withTokenFacts = {
  include: { credential: { select: { hint: true, createdBy: true, lastUsedAtNs: true, expiresAtNs: true } } },
} as const;

export interface WithTokenFacts {
  readonly credential: Pick<CredentialModel, "hint" | "createdBy" | "lastUsedAtNs" | "expiresAtNs"> | null;
}

/** Answers the fields that the contract has for every kind of token. The token itself is shown once, by the operation that makes it. */
export function toTokenFacts({ credential: row }: WithTokenFacts) {
  return {
    token: undefined,
    hint: row?.hint ?? undefined,
    createdBy: toComplete(TokenMaker.safeParse(row?.createdBy).data),
    lastUsedAt: row?.lastUsedAtNs ?? undefined,
    expiresAt: row?.expiresAtNs ?? undefined,
  };
}
