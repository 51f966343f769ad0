import type { Ctx } from "../../calls/context/context.ts";
import { newId } from "../../db/ids.ts";
import type { Transaction } from "../../db/transaction.ts";
import { hashToken, mintToken } from "../../process/credentials/mint.ts";
import { endSession, withOwner, writeSessionEntry } from "./session-entries.ts";

export const SESSION_SECONDS = 30 * 86_400;

const PROGRAM_SESSION_SECONDS = 90 * 86_400;

type Owner = { readonly memberId: string; readonly isOfProgram?: boolean } | { readonly apiKeyId: string };

export interface NewSession {
  readonly id: string;
  /** Its text, which only the browser gets. */
  readonly token: string;
  readonly expiresAt: bigint;
}

interface Beginning extends Pick<Ctx, "clock" | "address" | "requestId"> {
  /** The cookie that the browser had. */
  readonly formerToken: string | undefined;
}

/**
 * Begins a session, which ends with its owner, after 12 hours without a call, or after 30 days; a program's after 90 days. That of a
 * browser takes the place of the one that it had, also of another person: a cookie that was copied before opens nothing afterwards.
 */
export async function beginSession(tx: Transaction, owner: Owner, ctx: Beginning): Promise<NewSession> {
  const nowNs = ctx.clock.nowNs();
  const isOfProgram = "isOfProgram" in owner && owner.isOfProgram === true;
  if (ctx.formerToken !== undefined && !isOfProgram) await endSession(tx, ctx, ctx.formerToken);
  const [id, token] = [newId("sess"), mintToken("dl_ses")];
  const expiresAtNs = nowNs + BigInt(isOfProgram ? PROGRAM_SESSION_SECONDS : SESSION_SECONDS) * 1_000_000_000n;
  const times = { createdAtNs: nowNs, lastUsedAtNs: nowNs, expiresAtNs };
  const data = { id, tokenSha256: hashToken(token), ...owner, address: ctx.address(), ...times };
  const session = await tx.signInSession.create({ data, include: withOwner });
  await writeSessionEntry(tx, ctx, { operation: "session.begin", session });
  return { id, token, expiresAt: expiresAtNs };
}
