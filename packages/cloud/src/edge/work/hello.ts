import { type api, edgeLimits, type Input, type Output } from "@downlink/protocol";
import type { AgentCtx } from "../../calls/context/context.ts";
import type { Complete } from "../../core/complete.ts";
import { ApiError } from "../../core/errors.ts";
import { newId } from "../../db/ids.ts";
import { sqlState } from "../../db/sql-state.ts";
import { isCloned, isReturn, noteReturn } from "../../fleet/agents/clones.ts";
import { knowsLaterLease, takeLease } from "../../fleet/agents/lease.ts";
import { ownerId } from "../../process/polls/agent-owner.ts";
import { LEASE_NS } from "../../process/polls/lease-renewals.ts";
import { type AgentRow, keepStanding, type Standing, writeAgent } from "../standing/agent-standing.ts";
import { isSameInventory } from "../standing/inventory.ts";
import { settingsOf } from "./work.ts";

type Hello = typeof api.edge.hello;

/** No two agents should conflict for longer than this. */
const MAX_ATTEMPTS = 10;
const OWNER_IS_GONE = "23503"; // a foreign key without its row

/** A whole fleet may say hello at once. spec: edge agent §3, hello */
export async function hello(ctx: AgentCtx, body: Input<Hello>): Promise<Complete<Output<Hello>>> {
  return ctx.admission.hellos.run(ownerId(ctx.caller), () => greet(ctx, body));
}

/**
 * Reads, decides, and writes the agent's row if it has not changed meanwhile: two hellos at once, or one beside a report, run one after
 * another without a lock or a transaction between two statements. If there is nothing to decide, the row is written as it is read.
 */
async function greet(ctx: AgentCtx, body: Input<Hello>): Promise<Complete<Output<Hello>>> {
  let standing = await look(ctx, body);
  if (!standing.isKept && isReturn(standing.agent, body.instanceId, ctx.clock.nowNs())) {
    await noteReturn(ctx, body.instanceId);
    standing = await look(ctx, body);
  }
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const greeting = { body, nowNs: ctx.clock.nowNs(), isKnown: isSameInventory(standing.inventory, body.inventory) };
    if (standing.isKept) return welcome(ctx, { ...greeting, standing, row: standing.agent! });
    const row = nextRow(standing, greeting);
    if (await isWritten(ctx, row, standing)) return welcome(ctx, { ...greeting, standing, row });
    standing = await look(ctx, body);
  }
  throw new ApiError("Unavailable", "others write this agent's row all the time; try again", { retryAfterSeconds: 5 });
}

async function look(ctx: AgentCtx, body: Input<Hello>): Promise<Standing> {
  const nowNs = ctx.clock.nowNs();
  const { instanceId, lease, inventory } = body;
  const said = { ...toAgentColumns(body, nowNs), instanceId, lease, leaseExpiresAtNs: nowNs + LEASE_NS };
  const standing = await keepStanding(ctx, { ...said, hasFiles: inventory.count > 0 });
  if (!standing) throw new ApiError("Unauthenticated", "what the token was for was deleted");
  return standing;
}

/** Returns what the agent says of itself, in the columns that hold it. */
function toAgentColumns({ machineId, agentVersion, host, clock, takesCuts }: Input<Hello>, nowNs: bigint) {
  const facts = { host, clockSkewMs: Number((clock - nowNs) / 1_000_000n), ...(takesCuts && { takesCuts }) };
  return { machineId, agentVersion, lastSeenAtNs: nowNs, facts };
}

async function isWritten(ctx: AgentCtx, row: AgentRow, standing: Standing): Promise<boolean> {
  try {
    return await writeAgent(ctx, row, standing);
  } catch (error) {
    if (sqlState(error) === OWNER_IS_GONE) return false; // the next attempt sees it
    throw error;
  }
}

interface Greeting {
  readonly body: Input<Hello>;
  readonly nowNs: bigint;
  /** The agent's inventory equals the one that the cloud knows. */
  readonly isKnown: boolean;
}

function nextRow({ agent: current, incarnation }: Standing, { body, nowNs, isKnown }: Greeting): AgentRow {
  if (current && current.clonedAtNs !== null) throw isCloned();
  const { instanceId, formerInstanceIds = [] } = body;
  const said = {
    instanceId,
    formerInstanceIds,
    lease: body.lease === undefined ? undefined : BigInt(body.lease),
    nowNs,
  };
  const lease = takeLease(current ?? null, said);
  // The agent held a later lease than the one known here: nothing is permitted to it before it has listed all its files.
  const isSuspended = knowsLaterLease(current ?? null, said);
  const listed = isSuspended ? null : (current?.listedIncarnation ?? null);
  return {
    ...lease,
    ...toAgentColumns(body, nowNs),
    id: current?.id ?? newId("agt"),
    clonedAtNs: null,
    listedIncarnation: isKnown && body.inventory.count === 0 ? incarnation : listed, // without files there is nothing to list
  };
}

interface Greeted extends Greeting {
  readonly standing: Standing;
  readonly row: Pick<AgentRow, "leaseNumber" | "listedIncarnation">;
}

/**
 * An agent whose answer names an incarnation that ends at this moment hears of the next one with its next call, and what it has listed
 * under this one does not count then.
 */
function welcome(ctx: AgentCtx, { standing, row, nowNs, isKnown }: Greeted): Complete<Output<Hello>> {
  const { owner, incarnation } = standing;
  ctx.noteIncarnation(incarnation);
  return {
    orgId: ctx.caller.orgId,
    ...describeOwner(owner),
    settings: settingsOf(owner),
    serverTime: nowNs,
    incarnation,
    dataUrl: ctx.publicUrl(),
    lease: Number(row.leaseNumber),
    longPollSeconds: edgeLimits.longPollSeconds,
    isInventoryKnown: isKnown && row.listedIncarnation === incarnation,
  };
}

function describeOwner(owner: Standing["owner"]) {
  if ("site" in owner) {
    const site = { id: owner.site.id, name: owner.site.name };
    return { site, projectId: undefined, projectName: undefined, device: undefined };
  }
  const { id, name, projectId, projectName } = owner.device;
  return { site: undefined, projectId, projectName, device: { id, name } };
}
