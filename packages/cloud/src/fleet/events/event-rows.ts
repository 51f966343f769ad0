import type { Creator, Event, PropertyValues } from "@downlink/protocol";
import type { Kysely } from "kysely";
import {
  type ByIds,
  type FirstPage,
  type FirstPageOfDevice,
  oldest,
  type Rows,
} from "../../calls/search/first-page.ts";
import { type Complete, toComplete } from "../../core/complete.ts";
import type { Prisma } from "../../db/generated/client.ts";
import type { DB } from "../../db/generated/tables.ts";
import { anyOf, type Parameters, prepare } from "../../db/prepared.ts";
import { type Tenancy, within } from "../../organization/projects/scope-sql.ts";

/** The columns of an event that its answer shows. */
const shown = {
  id: true,
  projectId: true,
  deviceId: true,
  eventTypeId: true,
  startNs: true,
  endNs: true,
  metadata: true,
  properties: true,
  createdBy: true,
  createdAtNs: true,
  updatedAtNs: true,
} as const;
const names = Object.keys(shown) as (keyof typeof shown)[];

/** Names them in a statement in which the event has this alias. */
export function shownColumns<Alias extends string>(alias: Alias) {
  return names.map((name) => `${alias}.${name}` as const);
}

/** The same with the device, for Prisma. */
export const eventColumns = {
  ...shown,
  device: { select: { id: true, name: true } },
} as const satisfies Prisma.EventSelect;

const withDevices = (events: Rows<"Event">) =>
  events.innerJoin("Device as d", "d.id", "r.deviceId").select(shownColumns("r")).select("d.name as deviceName");

const eventsWithDevices = (db: Kysely<DB>) => withDevices(db.selectFrom("Event as r"));

/** Selects the event with an id. */
export const selectEvent = prepare((db, { orgId, projectIds, id }: Parameters<Tenancy & { id: string }>) =>
  eventsWithDevices(db).where(within("r", { orgId, projectIds })).where("r.id", "=", id),
);

/** Selects events by their ids. */
export const selectEvents = prepare((db, { ids }: Parameters<ByIds>) =>
  eventsWithDevices(db).where("r.id", "=", anyOf(ids)),
);

/** Selects the first page of events in the order of `oldest`. */
export const selectOldestEvents = prepare((db, { orgId, limit }: Parameters<FirstPage>) =>
  withDevices(oldest(db, { table: "Event", orgId, limit })),
);
export const selectOldestOfDevice = prepare((db, { orgId, limit, deviceId }: Parameters<FirstPageOfDevice>) =>
  withDevices(oldest(db, { table: "Event", orgId, limit, deviceId, isSorted: true })),
);

export type JoinedEvent = Awaited<ReturnType<typeof selectEvents>>[number];
type ShownEvent = Omit<JoinedEvent, "deviceName"> & Pick<EventRow, "device">;

export type EventRow = Prisma.EventGetPayload<{ select: typeof eventColumns }>;

export function toEventFromJoin({ deviceName, ...row }: JoinedEvent): Complete<Event> {
  return toEvent({ ...row, device: { id: row.deviceId, name: deviceName } });
}

export function toEvent(row: ShownEvent): Complete<Event> {
  return {
    id: row.id,
    projectId: row.projectId,
    start: row.startNs,
    end: row.endNs,
    deviceId: row.deviceId,
    device: row.device,
    metadata: row.metadata as Event["metadata"],
    createdBy: toComplete((row.createdBy ?? undefined) as Creator | undefined),
    createdAt: row.createdAtNs,
    updatedAt: row.updatedAtNs,
    eventTypeId: row.eventTypeId ?? undefined,
    properties: row.properties as PropertyValues,
  };
}
