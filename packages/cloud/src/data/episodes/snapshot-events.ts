import { MAX_EVENT_MEMBERSHIPS } from "@downlink/protocol";
import { invalid, throwNotFound } from "../../core/errors.ts";
import { Prisma } from "../../db/generated/client.ts";
import { columnsOfRecording, hasMessagesIn } from "../../db/span-sql.ts";
import type { Transaction } from "../../db/transaction.ts";

export interface EventSnapshot {
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly deviceId: string;
  /** Those of the device's imported recordings that have messages in the time range. */
  readonly recordingIds: readonly string[];
}

interface Asked {
  readonly projectId: string;
  readonly eventIds: readonly string[];
}

const NS_PER_MS = 1_000_000n;

/** Reads the present state of the events and their recordings, by the event's id. spec: Episodes/Get or create */
export async function snapshotEvents(tx: Transaction, asked: Asked): Promise<Map<string, EventSnapshot>> {
  const eventIds = [...new Set(asked.eventIds)];
  if (eventIds.length === 0) return new Map();
  const events = await tx.event.findMany({
    where: { projectId: asked.projectId, id: { in: eventIds } },
    select: { id: true, startNs: true, endNs: true, deviceId: true },
  });
  const byId = new Map(events.map((event) => [event.id, event]));
  for (const id of eventIds) requireWindow(byId.get(id) ?? throwNotFound(`event ${id}`));
  const members = await findMembers(tx, asked.projectId, events);
  const recordingIds = Map.groupBy(members, ({ eventId }) => eventId);
  return new Map(
    events.map(({ id, ...event }) => [
      id,
      { ...event, recordingIds: (recordingIds.get(id) ?? []).map(({ recordingId }) => recordingId) },
    ]),
  );
}

interface EventRow {
  readonly id: string;
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly deviceId: string;
}

/**
 * "Event windows must span distinct millisecond timestamps; for instant or shorter windows, give recordings and an explicit time range."
 * spec: Episodes/Get or create
 */
function requireWindow({ id, startNs, endNs }: EventRow): void {
  if (msOf(startNs) === msOf(endNs))
    invalid(
      "episodes",
      `must give recordings, startTime and endTime for event ${id}, which starts and ends in one millisecond`,
    );
}

/** Rounds down, for times before the epoch as well. */
function msOf(timeNs: bigint): bigint {
  const restNs = ((timeNs % NS_PER_MS) + NS_PER_MS) % NS_PER_MS;
  return (timeNs - restNs) / NS_PER_MS;
}

interface Membership {
  readonly eventId: string;
  readonly recordingId: string;
}

async function findMembers(tx: Transaction, projectId: string, events: readonly EventRow[]): Promise<Membership[]> {
  const windows = JSON.stringify(events, (_name, value) => (typeof value === "bigint" ? value.toString() : value));
  const members = await tx.$queryRaw<Membership[]>`
    SELECT v.id AS "eventId", r.id AS "recordingId"
    FROM jsonb_to_recordset(${windows}::jsonb) AS v(id text, "deviceId" text, "startNs" bigint, "endNs" bigint)
    JOIN "Recording" r ON r."deviceId" = v."deviceId" AND r."importStatus" = 'complete' AND r."projectId" = ${projectId}
      AND r."startNs" <= v."endNs" AND r."endNs" >= v."startNs"
      AND downlink_span(r."startNs", r."endNs") && downlink_span(v."startNs", v."endNs")
      AND ${hasMessagesIn(columnsOfRecording("r"), Prisma.sql`v."startNs"`, Prisma.sql`v."endNs"`)}
    LIMIT ${MAX_EVENT_MEMBERSHIPS + 1}`;
  if (members.length > MAX_EVENT_MEMBERSHIPS)
    invalid(
      "episodes",
      `name events with more than ${MAX_EVENT_MEMBERSHIPS} recordings in sum; ask for fewer events at once`,
    );
  return members;
}
