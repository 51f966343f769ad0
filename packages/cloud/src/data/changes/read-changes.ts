import { changeKinds, MAX_CHANGES } from "@downlink/protocol";
import type { Deps } from "../../calls/context/context.ts";
import { Prisma } from "../../db/generated/client.ts";
import { newPoolReader } from "../../db/read-sql.ts";

export interface ChangeRow {
  readonly kind: (typeof changeKinds)[number];
  readonly id: string;
  readonly projectId: string;
  readonly deviceId: string | null;
}

/** A place in the outbox: what was written by transactions before this one was read. */
export interface Place {
  readonly incarnation: string;
  readonly xid: bigint;
  readonly atSeconds: number;
}

export interface News {
  readonly rows: readonly ChangeRow[];
  readonly place: Place;
  readonly isMissed: boolean;
}

/** Events are kept for longer, so that who asks from a later time than this has missed none. */
const LONGEST_SECONDS = 7 * 86_400;

type Found = { readonly incarnation: string; readonly xid: bigint } & {
  readonly [K in keyof ChangeRow]: ChangeRow[K] | null;
};

/**
 * Reads what has changed in an organization since a place. A row is read once every transaction that began before its own has ended, so
 * none that commits late is passed over.
 */
export async function readNews({ db, clock }: Pick<Deps, "db" | "clock">, orgId: string, since?: Place): Promise<News> {
  const found = await newPoolReader(db)<Found>(Prisma.sql`
    SELECT now.*, e.* FROM (
      SELECT incarnation, pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS xid FROM "Deployment" WHERE id = 1
    ) AS now LEFT JOIN LATERAL (
      SELECT split_part(o.type, '.', 1) AS kind, o."projectId", o.payload -> split_part(o.type, '.', 1) ->> 'id' AS id,
        o.payload -> split_part(o.type, '.', 1) -> 'device' ->> 'id' AS "deviceId"
      FROM "OutboxEvent" o
      WHERE o."orgId" = ${orgId} AND o.xid >= ${since?.xid ?? null}::bigint AND o.xid < now.xid AND o."projectId" IS NOT NULL
        AND split_part(o.type, '.', 1) = ANY (${[...changeKinds]}::text[])
      LIMIT ${MAX_CHANGES + 1}
    ) AS e ON TRUE`);
  const { incarnation, xid } = found[0]!;
  const place = { incarnation, xid, atSeconds: Number(clock.nowNs() / 1_000_000_000n) };
  const rows = found.flatMap(({ kind, id, projectId, deviceId }) =>
    kind && id && projectId ? { kind, id, projectId, deviceId } : [],
  );
  const isMissed = since !== undefined && (!isOfHere(since, place) || rows.length > MAX_CHANGES);
  return { rows: isMissed ? [] : rows, place, isMissed };
}

function isOfHere(since: Place, now: Place): boolean {
  return (
    since.incarnation === now.incarnation && since.xid <= now.xid && now.atSeconds - since.atSeconds < LONGEST_SECONDS
  );
}

export function formatPlace({ incarnation, xid, atSeconds }: Place): string {
  return `${xid}.${atSeconds}.${incarnation}`;
}

/** Returns a place that no database has if the text is none. */
export function parsePlace(text: string): Place {
  const [, xid, atSeconds, incarnation] = /^(\d{1,18})\.(\d{1,12})\.(.+)$/.exec(text) ?? [];
  return { incarnation: incarnation ?? "", xid: BigInt(xid ?? 0), atSeconds: Number(atSeconds ?? 0) };
}
