import { sql } from "kysely";
import type { Ctx } from "../../calls/context/context.ts";
import { callerId } from "../../core/callers.ts";
import { notFound } from "../../core/errors.ts";
import type { Database } from "../../db/client.ts";
import { newId } from "../../db/ids.ts";
import { parameter, prepare, typed } from "../../db/prepared.ts";

interface NewUpload {
  readonly siteId: string;
  readonly projectId: string;
  readonly device: { readonly id: string; readonly name: string } | undefined;
  readonly filename: string;
  readonly key?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly sessionKey?: string | undefined;
}

/** Inserts the request of a file that somebody sends by a link; 404 if the site was deleted at this moment. */
export async function insertUploadRequest(
  { caller, clock }: Pick<Ctx, "caller" | "clock">,
  db: Pick<Database, "pool">,
  { siteId, projectId, device, filename, key, sessionId, sessionKey }: NewUpload,
): Promise<{ id: string; createdAtNs: bigint }> {
  const owners = [caller.orgId, projectId, callerId(caller)];
  const given = [device?.id, device?.name, key, sessionId, sessionKey];
  const [row] = await insert(db, [newId("req"), ...owners, filename, clock.nowNs(), ...given, siteId, caller.kind]);
  return row ?? notFound(`site ${siteId}`);
}

const fixed = ["source", "state", "pipelineStage", "isAcknowledged"] as const;
const given = ["id", "orgId", "projectId", "siteId", "requestedBy", "filename", "createdAtNs", "updatedAtNs"] as const;
const optional = ["deviceId", "deviceName", "key", "sessionId", "sessionKey"] as const;

/** The requester keeps its name of this moment, because keys are renamed and deleted; `findRequester` returns the same. */
const requester = sql.raw<string>(
  `jsonb_strip_nulls(jsonb_build_object('kind', $13::text, 'id', $4::text, 'name', coalesce(k.name, a.email)))`,
);

/**
 * Inserts a request with its id ($1), of an organization and project ($2, $3), made by an API key or member ($4) of this kind ($13), with a file's name ($5), now ($6); the
 * other values follow in their order, and the site ($12) comes before the kind. It stays until the request is committed.
 */
const insert = prepare((db) =>
  db
    .insertInto("ImportRequest")
    .columns([...fixed, ...given, ...optional])
    .expression((select) =>
      select
        .selectFrom("Site as s")
        .leftJoin("ApiKey as k", (join) => join.on("k.id", "=", parameter<string>(4)))
        .leftJoin("Member as m", (join) => join.on("m.id", "=", parameter<string>(4)))
        .leftJoin("Account as a", "a.id", "m.accountId")
        .select([sql.lit("upload").as("source"), sql.lit("awaiting").as("state")])
        .select([sql.lit("Waiting for the upload").as("pipelineStage"), sql.lit(true).as("isAcknowledged")])
        .select([typed<string>(1, "text").as("id"), "s.orgId", typed<string>(3, "text").as("projectId")])
        .select(["s.id as siteId", requester.as("requestedBy"), typed<string>(5, "text").as("filename")])
        .select([typed<bigint>(6, "bigint").as("createdAtNs"), typed<bigint>(6, "bigint").as("updatedAtNs")])
        .select(optional.map((name, index) => typed<string>(7 + index, "text").as(name)))
        .where("s.orgId", "=", parameter<string>(2))
        .where("s.id", "=", parameter<string>(12))
        .modifyEnd(sql`FOR KEY SHARE OF s`),
    )
    .returning(["id", "createdAtNs"]),
);
