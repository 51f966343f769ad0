// An agent makes its own token when it holds one that can only create a device, and tells its SHA-256. Who looks for
// a device's name in order to create it takes turns on an advisory lock; a repeat with the same enrolment id and
// both secrets finds what it made, and the unassociated token takes over no device that is there.

import type { api, Input, Output, TokenMaker } from "@downlink/protocol";
import type { EnrolmentCtx } from "../context/context.ts";
import { ApiError, refuse } from "../core/errors.ts";
import { newId } from "../db/ids.ts";
import { onUniqueViolation } from "../db/sql-state.ts";
import { type Transaction, withTransaction } from "../db/transaction.ts";
import { createDeviceRow, lockDeviceName } from "../devices/create-device.ts";

type Enroll = typeof api.edge.enroll;
type Enrolled = Output<Enroll>;

/**
 * A device for an agent that holds an unassociated token, and a token of its own, of which only the agent knows the text. Asked
 * again with the same enrolment it answers the same device: the answer may have been lost. spec: edge agent §1
 */
export async function enroll(ctx: EnrolmentCtx, input: Input<Enroll>): Promise<Enrolled> {
  const enrollInTransaction = () => withTransaction(ctx.db, (tx) => enrollOnce(tx, ctx, input));
  // Where somebody took the name or the hash at this moment, it is there to be seen now.
  return enrollInTransaction().catch(onUniqueViolation(enrollInTransaction));
}

async function enrollOnce(tx: Transaction, ctx: EnrolmentCtx, input: Input<Enroll>): Promise<Enrolled> {
  const { enrolmentId, tokenSha256, deviceName: name } = input;
  const { orgId, projectId, tokenId, preapproved } = ctx.caller;
  await lockDeviceName(tx, projectId, name);
  const known = await findEnrolled(tx, ctx, input);
  if (known) return known;
  if (await tx.device.findUnique({ where: { projectId_name: { projectId, name } } })) nameTaken(name);
  if (await tx.credential.findUnique({ where: { tokenSha256 } }))
    refuse("Conflict", "the token's hash is that of another token; make a new one");
  const nowNs = ctx.clock.nowNs();
  const device = await createDeviceRow(tx, { orgId, projectId, name, enabled: preapproved, nowNs });
  const owner = { orgId, projectId, deviceId: device.id };
  const token = { enrolmentId, enrolledWith: tokenId, preapproved, createdAtNs: nowNs };
  const createdBy = { kind: "deviceToken", id: tokenId } satisfies TokenMaker;
  const credential = { create: { tokenSha256, createdBy } };
  await tx.deviceToken.create({ data: { id: newId("dt"), ...owner, ...token, credential } });
  return { orgId, projectId, device: { id: device.id, name, enabled: device.enabled } };
}

/** What this enrolment made before. Its id alone is no proof: whoever asks must hold the same two secrets again. */
async function findEnrolled(
  tx: Transaction,
  { caller }: EnrolmentCtx,
  { enrolmentId, tokenSha256 }: Input<Enroll>,
): Promise<Enrolled | undefined> {
  const token = await tx.deviceToken.findUnique({
    where: { enrolmentId },
    include: { device: true, credential: true },
  });
  if (!token?.device) return undefined;
  if (token.enrolledWith !== caller.tokenId || token.credential?.tokenSha256 !== tokenSha256)
    refuse("Conflict", "the enrolment id was used by somebody else; make a new one");
  const { orgId, projectId, id, name, enabled } = token.device;
  return { orgId, projectId, device: { id, name, enabled } };
}

function nameTaken(name: string): never {
  throw new ApiError(
    "NameTaken",
    `the project has a device named "${name}" already, and this token can only create one: take another name, or make a token for that device`,
  );
}
