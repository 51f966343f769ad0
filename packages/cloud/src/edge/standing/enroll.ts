// If an agent holds a token that can only create a device, it makes a token of its own and sends the SHA-256 of it. Transactions that look
// for a device's name in order to create it run one at a time, under an advisory lock. A repeat with the same enrolment id and both secrets
// finds what it created, and such a token never takes over an existing device.

import type { api, Input, Output, TokenMaker } from "@downlink/protocol";
import { findActor } from "../../calls/audit-log/find-actor.ts";
import { writeEntry } from "../../calls/audit-log/write-entry.ts";
import type { EnrolmentCtx } from "../../calls/context/context.ts";
import { ApiError, refuse } from "../../core/errors.ts";
import { newId } from "../../db/ids.ts";
import { onUniqueViolation } from "../../db/sql-state.ts";
import { type Transaction, withTransaction } from "../../db/transaction.ts";
import { createDeviceRow, lockDeviceName } from "../../fleet/devices/create-device.ts";

type Enroll = typeof api.edge.enroll;
type Enrolled = Output<Enroll>;

/**
 * Creates a device for an agent that holds a token without a device, and registers a token of which only the agent knows the text. A repeat
 * with the same enrolment returns the same device, because the answer may have been lost. spec: edge agent §1
 */
export async function enroll(ctx: EnrolmentCtx, input: Input<Enroll>): Promise<Enrolled> {
  const enrollInTransaction = () => withTransaction(ctx.db, (tx) => enrollOnce(tx, ctx, input));
  // If another call took the name or the hash at this moment, a second attempt sees it.
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
  const after = { name, enabled: device.enabled, projectId };
  const change = { operation: "edge.enroll", resourceKind: "device", resourceId: device.id, after } as const;
  await writeEntry(tx, await findActor(tx, ctx), { orgId, nowNs, ...change });
  return { orgId, projectId, device: { id: device.id, name, enabled: device.enabled } };
}

/** Finds what this enrolment created before. Its id alone is no proof: the caller must hold the same two secrets again. */
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
    refuse("Conflict", "another agent used this enrolment id; make a new one");
  const { orgId, projectId, id, name, enabled } = token.device;
  return { orgId, projectId, device: { id, name, enabled } };
}

function nameTaken(name: string): never {
  throw new ApiError(
    "NameTaken",
    `the project has a device named "${name}" already, and this token can only create one: take another name, or make a token for that device`,
  );
}
