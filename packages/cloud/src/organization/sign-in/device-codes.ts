// A program without a browser shows a code, and a signed-in member types it and approves. An attacker may mail a member the code of their
// own program, with a false reason to type it. The member should notice that: the page shows the program and its address, and nothing is
// approved by a link alone.

import { randomInt } from "node:crypto";
import type { AskIdToken, BearerToken, DecidedDeviceCode, DeviceCode, IdToken } from "@downlink/protocol";
import type { z } from "zod";
import { writeEntry } from "../../calls/audit-log/write-entry.ts";
import type { MemberCaller } from "../../core/callers.ts";
import { ApiError, throwNotFound } from "../../core/errors.ts";
import type { DeviceSignInModel } from "../../db/generated/models.ts";
import { newId } from "../../db/ids.ts";
import { withTransaction } from "../../db/transaction.ts";
import { hashToken, mintToken } from "../../process/credentials/mint.ts";
import { beginSession } from "../members/begin-session.ts";
import type { Stranger } from "./join.ts";

const LIFE_SECONDS = 600;
const INTERVAL_SECONDS = 5;
const ID_TOKEN_NS = 60_000_000_000n;
/** Eight of twenty letters are 34 bits. There are no vowels, so that no words come out. */
const LETTERS = "BCDFGHJKLMNPQRSTVWXZ";
const CODE_LETTERS = 8;

/** Begins the sign-in of a program. */
export async function askDeviceCode(ctx: Stranger, clientId: string): Promise<z.output<typeof DeviceCode>> {
  const { db, clock, deviceCodeTries } = ctx;
  const address = ctx.address();
  await deviceCodeTries.admit(`ask ${address}`);
  await deviceCodeTries.note(`ask ${address}`);
  const [deviceCode, userCode, nowNs] = [mintToken("dl_dc"), makeUserCode(), clock.nowNs()];
  const times = { createdAtNs: nowNs, expiresAtNs: nowNs + BigInt(LIFE_SECONDS) * 1_000_000_000n };
  const row = { id: newId("dsi"), deviceCodeSha256: hashToken(deviceCode), userCode, clientId, address };
  await db.prisma.deviceSignIn.create({ data: { ...row, ...times } });
  const shown = `${userCode.slice(0, 4)}-${userCode.slice(4)}`;
  const verificationUri = `${ctx.publicUrl()}/sign-in/device`;
  return {
    ...{ deviceCode, userCode: shown, expiresIn: LIFE_SECONDS, interval: INTERVAL_SECONDS },
    ...{ verificationUri, verificationUriComplete: `${verificationUri}?code=${shown}` },
  };
}

function makeUserCode(): string {
  return Array.from({ length: CODE_LETTERS }, () => LETTERS[randomInt(LETTERS.length)]).join("");
}

/**
 * Gives the program that holds the code its text for one use, bound to that code, once a member has approved. No token of an identity
 * provider is taken in its place.
 */
export async function askIdToken(
  { db, clock }: Stranger,
  { deviceCode, clientId }: z.output<typeof AskIdToken>,
): Promise<z.output<typeof IdToken>> {
  const deviceCodeSha256 = hashToken(deviceCode);
  const row = await db.prisma.deviceSignIn.findUnique({ where: { deviceCodeSha256 } });
  const nowNs = clock.nowNs();
  if (!row || row.clientId !== clientId || row.expiresAtNs <= nowNs || row.idTokenSha256 !== null)
    throw new ApiError("Unauthenticated", "the device code is unknown, denied, used or too old; begin again");
  if (row.memberId === null) throw new ApiError("AuthorizationPending", `no member has approved ${clientId} yet`);
  const idToken = mintToken("dl_idt");
  const { count } = await db.prisma.deviceSignIn.updateMany({
    where: { id: row.id, idTokenSha256: null, memberId: row.memberId },
    data: { idTokenSha256: hashToken(idToken), idTokenEndNs: nowNs + ID_TOKEN_NS },
  });
  if (count === 0) throw new ApiError("Unauthenticated", "the device code was used at this moment; begin again");
  return { idToken };
}

/** Exchanges the text for a session of the member who approved. */
export async function exchangeIdToken(ctx: Stranger, idToken: string): Promise<z.output<typeof BearerToken>> {
  const idTokenSha256 = hashToken(idToken);
  return withTransaction(ctx.db, async (tx) => {
    const row = await tx.deviceSignIn.findUnique({ where: { idTokenSha256 } });
    const { count } = await tx.deviceSignIn.deleteMany({ where: { idTokenSha256 } });
    if (!row?.memberId || count === 0 || row.idTokenEndNs! <= ctx.clock.nowNs())
      throw new ApiError("Unauthenticated", "the idToken is unknown, used or too old; begin again");
    const { token: bearerToken } = await beginSession(tx, { memberId: row.memberId, isOfProgram: true }, ctx);
    return { bearerToken };
  });
}

export interface Typed {
  readonly caller: MemberCaller;
  readonly userCode: string;
}

/** Finds what a member typed; wrong codes are counted for the member and for the address. */
export async function findTyped(ctx: Stranger, { caller, userCode }: Typed): Promise<DeviceSignInModel> {
  const { db, clock, deviceCodeTries } = ctx;
  const who = [`code ${caller.memberId}`, `code ${ctx.address()}`];
  for (const one of who) await deviceCodeTries.admit(one);
  const letters = userCode.toUpperCase().replaceAll(/[^A-Z]/g, "");
  const row = await db.prisma.deviceSignIn.findUnique({ where: { userCode: letters } });
  if (row && row.memberId === null && row.expiresAtNs > clock.nowNs()) return row;
  for (const one of who) await deviceCodeTries.note(one);
  return throwNotFound("a program that waits with this code");
}

/** Approves, so that the program gets a session of the member; or denies, which ends its sign-in. */
export async function decide(
  ctx: Stranger,
  typed: Typed,
  approve: boolean,
): Promise<z.output<typeof DecidedDeviceCode>> {
  const { id, clientId, address } = await findTyped(ctx, typed);
  const { orgId, memberId, accountId } = typed.caller;
  await withTransaction(ctx.db, async (tx) => {
    if (!approve) return void (await tx.deviceSignIn.deleteMany({ where: { id } }));
    const { count } = await tx.deviceSignIn.updateMany({ where: { id, memberId: null }, data: { memberId } });
    if (count === 0) throwNotFound("a program that waits with this code");
    const { email: actorName } = await tx.account.findUniqueOrThrow({ where: { id: accountId } });
    const actor = {
      actorKind: "member",
      actorId: memberId,
      actorName,
      address: ctx.address(),
      requestId: ctx.requestId,
    } as const;
    const change = { operation: "session.decideDeviceCode", resourceKind: "session", resourceId: id } as const;
    await writeEntry(tx, actor, { orgId, nowNs: ctx.clock.nowNs(), ...change, after: { clientId, address } });
  });
  return { approved: approve };
}
