import { sql } from "kysely";
import type { Ctx } from "../../calls/context/context.ts";
import { callerId } from "../../core/callers.ts";
import { throwNotFound } from "../../core/errors.ts";
import type { Database } from "../../db/client.ts";
import { newId } from "../../db/ids.ts";
import { asBigint, asText, type Parameters, prepare } from "../../db/prepared.ts";

interface NewUpload {
  readonly siteId: string;
  readonly projectId: string;
  readonly device: { readonly id: string; readonly name: string } | undefined;
  readonly filename: string;
  readonly key?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly sessionKey?: string | undefined;
}

/** Inserts the request of a file that a client sends by a link; 404 if the site was deleted at this moment. */
export async function insertUploadRequest(
  { caller, clock }: Pick<Ctx, "caller" | "clock">,
  db: Pick<Database, "pool">,
  { siteId, projectId, device, filename, ...named }: NewUpload,
): Promise<{ id: string; createdAtNs: bigint }> {
  const { key = null, sessionId = null, sessionKey = null } = named;
  const [row] = await insert(db, {
    ...{ id: newId("req"), orgId: caller.orgId, projectId, siteId, filename, nowNs: clock.nowNs() },
    ...{ requesterId: callerId(caller), requesterKind: caller.kind },
    ...{ deviceId: device?.id ?? null, deviceName: device?.name ?? null, key, sessionId, sessionKey },
  });
  return row ?? throwNotFound(`site ${siteId}`);
}

interface Values
  extends Record<"id" | "orgId" | "projectId" | "siteId" | "filename" | "requesterId" | "requesterKind", string> {
  readonly nowNs: bigint;
  readonly deviceId: string | null;
  readonly deviceName: string | null;
  readonly key: string | null;
  readonly sessionId: string | null;
  readonly sessionKey: string | null;
}

const fixed = ["source", "state", "pipelineStage", "isAcknowledged"] as const;
const given = ["id", "orgId", "projectId", "siteId", "requestedBy", "filename", "createdAtNs", "updatedAtNs"] as const;
const optional = ["deviceId", "deviceName", "key", "sessionId", "sessionKey"] as const;

/** The requester keeps its name of this moment, because keys are renamed and deleted; `findRequester` returns the same. */
const describeRequester = ({ requesterId, requesterKind }: Parameters<Values>) => sql<string>`jsonb_strip_nulls(
  jsonb_build_object('kind', ${requesterKind}::text, 'id', ${requesterId}::text, 'name', coalesce(k.name, a.email)))`;

/** Inserts a request that is made by an API key or a member. Its site stays until the request is committed. */
const insert = prepare((db, values: Parameters<Values>) =>
  db
    .insertInto("ImportRequest")
    .columns([...fixed, ...given, ...optional])
    .expression((select) =>
      select
        .selectFrom("Site as s")
        .leftJoin("ApiKey as k", (join) => join.on("k.id", "=", values.requesterId))
        .leftJoin("Member as m", (join) => join.on("m.id", "=", values.requesterId))
        .leftJoin("Account as a", "a.id", "m.accountId")
        .select([sql.lit("upload").as("source"), sql.lit("awaiting").as("state")])
        .select([sql.lit("Waiting for the upload").as("pipelineStage"), sql.lit(true).as("isAcknowledged")])
        .select([asText(values.id).as("id"), "s.orgId", asText(values.projectId).as("projectId")])
        .select(["s.id as siteId", describeRequester(values).as("requestedBy"), asText(values.filename).as("filename")])
        .select([asBigint(values.nowNs).as("createdAtNs"), asBigint(values.nowNs).as("updatedAtNs")])
        .select(optional.map((name) => asText(values[name]).as(name)))
        .where("s.orgId", "=", values.orgId)
        .where("s.id", "=", values.siteId)
        .modifyEnd(sql`FOR KEY SHARE OF s`),
    )
    .returning(["id", "createdAtNs"]),
);
