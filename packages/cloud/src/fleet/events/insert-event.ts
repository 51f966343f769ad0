import { sql } from "kysely";
import type { Ctx } from "../../calls/context/context.ts";
import { callerId } from "../../core/callers.ts";
import { notFound } from "../../core/errors.ts";
import type { Database } from "../../db/client.ts";
import { newId } from "../../db/ids.ts";
import { parameter, prepare, typed } from "../../db/prepared.ts";
import type { JoinedEvent } from "./event-rows.ts";

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
  const texts = [JSON.stringify(metadata), JSON.stringify(properties)];
  const values = [caller.orgId, deviceId, newId("evt"), eventTypeId, startNs, endNs, ...texts];
  const [row] = await insert(db, [...values, clock.nowNs(), newId("whev"), callerId(caller), caller.kind]);
  return row ?? notFound(`device ${deviceId}`);
}

const written = ["metadata", "properties", "createdAtNs", "updatedAtNs", "createdBy"] as const;

const now = typed<bigint>(9, "bigint");

/** The creator keeps its name of this moment, because keys are renamed and deleted. */
const creator = sql.raw<string>(
  `jsonb_strip_nulls(jsonb_build_object('kind', $12::text, 'id', $11::text, 'name', coalesce(
    (SELECT k.name FROM "ApiKey" k WHERE k.id = $11), (SELECT a.email FROM "Member" m JOIN "Account" a ON a.id = m."accountId" WHERE m.id = $11))))`,
);

/**
 * Inserts an event of an organization ($1) and its device ($2), with id, type, start, end, metadata and properties
 * ($3 to $8), at a time ($9). $10 is the id of the outbox row. An API key or member ($11) of this kind ($12) creates it.
 */
const insert = prepare((db) =>
  db
    .with("device", (made) =>
      made
        .selectFrom("Device")
        .select(["id", "name", "projectId"])
        .where("orgId", "=", parameter<string>(1))
        .where("id", "=", parameter<string>(2))
        .forKeyShare(),
    )
    .with("event", (made) =>
      made
        .insertInto("Event")
        .columns(["id", "orgId", "projectId", "deviceId", "eventTypeId", "startNs", "endNs", ...written])
        .expression((given) =>
          given
            .selectFrom("device")
            .select([typed<string>(3, "text").as("id"), typed<string>(1, "text").as("orgId"), "projectId"])
            .select(["id as deviceId", typed<string>(4, "text").as("eventTypeId")])
            .select([typed<bigint>(5, "bigint").as("startNs"), typed<bigint>(6, "bigint").as("endNs")])
            .select([typed<string>(7, "jsonb").as("metadata"), typed<string>(8, "jsonb").as("properties")])
            .select([now.as("createdAtNs"), now.as("updatedAtNs"), creator.as("createdBy")]),
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
            .select([typed<string>(10, "text").as("newsId"), "orgId", "projectId", sql.lit("event.created").as("type")])
            .select(sql.raw<string>(`jsonb_build_object('event', jsonb_build_object('id', id))`).as("payload"))
            .select("createdAtNs"),
        ),
    )
    .selectFrom("event as e")
    .innerJoin("device as d", "d.id", "e.deviceId")
    .select(["e.id", "e.projectId", "e.deviceId", "d.name as deviceName", "e.eventTypeId", "e.startNs", "e.endNs"])
    .select(["e.metadata", "e.properties", "e.createdBy", "e.createdAtNs", "e.updatedAtNs"]),
);
