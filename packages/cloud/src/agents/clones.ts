// Clones are told by a process that comes back after another one presented its last lease, and finds that one alive.
// Not by the machine's id: a card that is copied copies that too. Once may be a call that the network held up; twice
// is a clone.

import type { AgentCtx } from "../context/context.ts";
import { ApiError } from "../core/errors.ts";
import { Prisma } from "../db/generated/client.ts";
import { ownerId } from "../polls/agent-owner.ts";

/** One may be a call that the network held up. */
const RETURNS_OF_A_CLONE = 2;

interface Known {
  readonly oustedInstanceId: string | null;
  readonly leaseInstanceId: string;
  readonly leaseExpiresAtNs: bigint;
}

/** Whether it comes back whose lease was taken over, while the one that took it is there. */
export function isReturn(agent: Known | undefined, instanceId: string, nowNs: bigint): boolean {
  if (!agent || agent.oustedInstanceId !== instanceId) return false;
  return agent.leaseInstanceId !== instanceId && agent.leaseExpiresAtNs > nowNs;
}

/**
 * Who presents the last lease takes it over, as a restart does. A process whose lease was taken so and which comes back all the
 * same, while the other one is there too, lives on beside it: both work with a copy of one state, and from the second time on
 * neither is served.
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
