// We recognize a clone by a process that comes back after another process presented its last lease, while that other process is still
// alive. We do not compare the machine's id, because copying a memory card copies the id too. A single return may be a call that the
// network held up; a second one means a clone.

import type { AgentCtx } from "../../calls/context/context.ts";
import { ApiError } from "../../core/errors.ts";
import { Prisma } from "../../db/generated/client.ts";
import { ownerId } from "../../process/polls/agent-owner.ts";

/** A single return may be a call that the network held up. */
const RETURNS_OF_A_CLONE = 2;

interface Known {
  readonly oustedInstanceId: string | null;
  readonly leaseInstanceId: string;
  readonly leaseExpiresAtNs: bigint;
}

/** Says whether the process whose lease was taken over has come back while the process that took it is still alive. */
export function isReturn(agent: Known | undefined, instanceId: string, nowNs: bigint): boolean {
  if (!agent || agent.oustedInstanceId !== instanceId) return false;
  return agent.leaseInstanceId !== instanceId && agent.leaseExpiresAtNs > nowNs;
}

/**
 * A process that presents the last lease takes it over, as after a restart. If the process that lost its lease so comes back while the
 * other one is still alive, both work with a copy of one state. From the second return on, neither of them is served.
 */
export async function noteReturn({ db, caller, clock }: AgentCtx, instanceId: string): Promise<void> {
  const nowNs = clock.nowNs();
  const column = Prisma.raw(caller.deviceId === null ? '"siteId"' : '"deviceId"');
  await db.prisma.$executeRaw`
    UPDATE "Agent" SET "oustedReturns" = "oustedReturns" + 1,
      "clonedAtNs" = CASE WHEN "oustedReturns" + 1 >= ${RETURNS_OF_A_CLONE} THEN coalesce("clonedAtNs", ${nowNs}) ELSE "clonedAtNs" END
    WHERE ${column} = ${ownerId(caller)} AND "oustedInstanceId" = ${instanceId}
      AND "leaseInstanceId" <> ${instanceId} AND "leaseExpiresAtNs" > ${nowNs}`;
}

export function isCloned(): ApiError {
  const message =
    "two agents work with copies of one state directory, and none of them is served: stop one, then release the agent in the control plane";
  return new ApiError("Cloned", message, { retryAfterSeconds: 60 });
}
