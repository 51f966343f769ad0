import { type RawBuilder, sql } from "kysely";
import type { Ctx } from "../../calls/context/context.ts";
import { callerId } from "../../core/callers.ts";
import { throwNotFound } from "../../core/errors.ts";
import type { Database } from "../../db/client.ts";
import { newId } from "../../db/ids.ts";
import { asBigint, asText, type Parameters, prepare, toJsonb } from "../../db/prepared.ts";
import { type JoinedEvent, shownColumns } from "./event-rows.ts";

interface NewEvent {
  readonly deviceId: string;
  readonly eventTypeId: string | null;
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly metadata: object;
  readonly properties: object;
}

/**
 * Returns the new event of a device of the caller's organization. One statement creates it, keeps its device from being deleted meanwhile,
 * and publishes it, so it needs no transaction.
 */
export async function insertEvent(
  { caller, clock }: Pick<Ctx, "caller" | "clock">,
  db: Pick<Database, "pool">,
  { deviceId, eventTypeId, startNs, endNs, metadata, properties }: NewEvent,
): Promise<JoinedEvent> {
  const [row] = await insert(db, {
    ...{ id: newId("evt"), newsId: newId("whev"), orgId: caller.orgId, nowNs: clock.nowNs() },
    ...{ creatorId: callerId(caller), creatorKind: caller.kind },
    ...{ deviceId, eventTypeId, startNs, endNs },
    ...{ metadata: JSON.stringify(metadata), properties: JSON.stringify(properties) },
  });
  return row ?? throwNotFound(`device ${deviceId}`);
}

interface Values {
  readonly id: string;
  /** The id of the row in the outbox. */
  readonly newsId: string;
  readonly orgId: string;
  readonly deviceId: string;
  readonly eventTypeId: string | null;
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly nowNs: bigint;
  /** JSON, as are the properties. */
  readonly metadata: string;
  readonly properties: string;
  /** The id of the API key or member that creates the event. */
  readonly creatorId: string;
  readonly creatorKind: string;
}

type At = Parameters<Values>;

/** The creator keeps its name of this moment, because keys are renamed and deleted. */
const describeCreator = ({ creatorId, creatorKind }: At) => sql<string>`jsonb_strip_nulls(
  jsonb_build_object('kind', ${creatorKind}::text, 'id', ${creatorId}::text, 'name', coalesce(
    (SELECT k.name FROM "ApiKey" k WHERE k.id = ${creatorId}),
    (SELECT a.email FROM "Member" m JOIN "Account" a ON a.id = m."accountId" WHERE m.id = ${creatorId}))))`;

/** The columns that the call fills, each with its value. */
const columns = {
  id: ({ id }: At) => asText(id),
  orgId: ({ orgId }: At) => asText(orgId),
  eventTypeId: ({ eventTypeId }: At) => asText(eventTypeId),
  startNs: ({ startNs }: At) => asBigint(startNs),
  endNs: ({ endNs }: At) => asBigint(endNs),
  metadata: ({ metadata }: At) => toJsonb(metadata),
  properties: ({ properties }: At) => toJsonb(properties),
  createdAtNs: ({ nowNs }: At) => asBigint(nowNs),
  updatedAtNs: ({ nowNs }: At) => asBigint(nowNs),
  createdBy: describeCreator,
};
const written = Object.keys(columns) as (keyof typeof columns)[];

/** Inserts an event, and says so in the outbox. */
const insert = prepare((db, values: At) =>
  db
    .with("device", (made) =>
      made
        .selectFrom("Device")
        .select(["id", "name", "projectId"])
        .where("orgId", "=", values.orgId)
        .where("id", "=", values.deviceId)
        .forKeyShare(),
    )
    .with("event", (made) =>
      made
        .insertInto("Event")
        .columns(["projectId", "deviceId", ...written])
        .expression((given) =>
          given
            .selectFrom("device")
            .select(["projectId", "id as deviceId"])
            .select(written.map((name) => (columns[name](values) as RawBuilder<unknown>).as(name))),
        )
        .returningAll(),
    )
    .with("news", (made) =>
      made
        .insertInto("OutboxEvent")
        .columns(["id", "orgId", "projectId", "type", "payload", "occurredAtNs"])
        .expression((given) =>
          given
            .selectFrom("event")
            .select([asText(values.newsId).as("newsId"), "orgId", "projectId", sql.lit("event.created").as("type")])
            .select([
              sql<string>`jsonb_build_object('event', jsonb_build_object('id', id))`.as("payload"),
              "createdAtNs",
            ]),
        ),
    )
    .selectFrom("event as e")
    .innerJoin("device as d", "d.id", "e.deviceId")
    .select(shownColumns("e"))
    .select("d.name as deviceName"),
);
