// A recording is in one session at a time. Adding one that is in another session is 409 and names that session, instead of moving it
// silently, because the other session would lose data that its owner counts on. A transaction that locks both locks the recordings before
// the session. A deleted session keeps its row but neither recordings nor key; an import that names its key creates a new session.

import type { Ctx } from "../../calls/context/context.ts";
import { ApiError, invalid, throwNotFound } from "../../core/errors.ts";
import type { RecordingModel } from "../../db/generated/models.ts";
import type { Transaction } from "../../db/transaction.ts";
import { visibleTo } from "../../organization/projects/find-project.ts";

/** The fields of a recording that matter for its session. */
export type Member = Pick<RecordingModel, "id" | "deviceId" | "projectId" | "sessionId">;

/**
 * Locks and returns the recordings in the order of the ids; 404 names one that the caller may not see. Until the transaction ends, imports
 * and other sessions wait for them. Every transaction that locks both takes these locks before that of the session.
 */
export async function lockMembers(tx: Transaction, ctx: Ctx, ids: readonly string[]): Promise<Member[]> {
  if (ids.length === 0) return [];
  const wanted = [...new Set(ids)];
  await tx.$queryRaw`
    SELECT id FROM "Recording" WHERE "orgId" = ${ctx.caller.orgId} AND id = ANY(${wanted}) ORDER BY id FOR NO KEY UPDATE`;
  const rows = await tx.recording.findMany({
    where: { AND: [{ id: { in: wanted } }, visibleTo(ctx)] },
    select: { id: true, deviceId: true, projectId: true, sessionId: true },
  });
  const byId = new Map(rows.map((row) => [row.id, row]));
  return wanted.map((id) => byId.get(id) ?? throwNotFound(`recording ${id}`));
}

interface Owner {
  /** Absent while the session is being created. */
  readonly id?: string;
  readonly deviceId: string;
}

/** "All recordings must share one device and project." spec: Sessions. A recording is in one session at a time: 409. */
export function requireAddable(members: readonly Member[], session: Owner): void {
  for (const { id, deviceId, sessionId } of members) {
    if (deviceId !== session.deviceId)
      throw new ApiError(
        "InvalidRequest",
        `recording ${id} is of ${deviceId === null ? "no device" : `device ${deviceId}`}, the session of device ${session.deviceId}`,
      );
    if (sessionId !== null && sessionId !== session.id)
      throw new ApiError("Conflict", `recording ${id} belongs to session ${sessionId}; remove it from that one first`);
  }
}

interface Wanted {
  readonly addRecordingIds?: readonly string[] | undefined;
  readonly removeRecordingIds?: readonly string[] | undefined;
}

interface Moves {
  readonly joining: string[];
  readonly leaving: string[];
}

/** Returns which members join a session and which leave it; those that are in their place stay. 400 for an id in both lists. */
export function planMoves(members: readonly Member[], session: Required<Owner>, wanted: Wanted): Moves {
  const added = new Set(wanted.addRecordingIds);
  const both = wanted.removeRecordingIds?.find((id) => added.has(id));
  if (both !== undefined)
    invalid("removeRecordingIds", `must not name recording ${both}, which is to be added as well`);
  const toAdd = members.filter(({ id }) => added.has(id));
  requireAddable(toAdd, session);
  const toRemove = members.filter(({ id }) => !added.has(id));
  return {
    joining: toAdd.filter(({ sessionId }) => sessionId === null).map(({ id }) => id),
    leaving: toRemove.filter(({ sessionId }) => sessionId === session.id).map(({ id }) => id),
  };
}
