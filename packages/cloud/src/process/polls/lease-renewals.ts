// Leases are renewed, and heartbeats stored, by one statement each second for all agents of a process. The statement compares the lease
// under the row's lock, and skips locked rows; an agent gets the answer "renewed" only after the commit.

import { edgeLimits } from "@downlink/protocol";
import { sql } from "kysely";
import type { Pool } from "pg";
import type { AgentCaller } from "../../core/callers.ts";
import type { Clock } from "../../core/clock.ts";
import { type Parameters, prepare } from "../../db/prepared.ts";

export const LEASE_NS = BigInt(edgeLimits.leaseSeconds) * 1_000_000_000n;
/** At most one statement runs in this time. */
const ROUND_MS = 1000;
const MOST_A_ROUND = 2000;
const SETTLED_AT_ONCE = 20;
/** A lease that lives longer than this is not renewed just because a poll waits. */
export const FRESH_NS = (LEASE_NS * 2n) / 3n;

export interface Renewal {
  /** False also while another transaction has locked the agent's row: then nothing is known, and the caller has to ask by itself. */
  readonly isRenewed: boolean;
  /** The cloud's incarnation at that moment. */
  readonly incarnation: string;
}

interface Asked {
  readonly caller: AgentCaller;
  /** A heartbeat, as JSON. */
  status: string | null;
  readonly answer: PromiseWithResolvers<Renewal>;
}

/**
 * Renews leases and stores heartbeats for all agents of this process, by one statement each second. An agent whose lease is reported as
 * renewed held it, under a valid token, when that was committed. A fleet at rest costs no more than this.
 */
export class LeaseRenewals implements Disposable {
  readonly #pool: Pool;
  readonly #clock: Clock;
  readonly #asked = new Map<string, Asked>();
  #timer: NodeJS.Timeout | undefined;
  #isUnderWay = false;
  #lastMs = Number.NEGATIVE_INFINITY;

  constructor({ pool, clock }: { pool: Pool; clock: Clock }) {
    this.#pool = pool;
    this.#clock = clock;
  }

  /** If there is a heartbeat, it is stored too. */
  renew(caller: AgentCaller, status?: object): Promise<Renewal> {
    const key = `${caller.tokenId} ${caller.lease}`;
    const asked = this.#asked.get(key) ?? { caller, status: null, answer: Promise.withResolvers<Renewal>() };
    if (status) asked.status = JSON.stringify(status);
    this.#asked.set(key, asked);
    this.#plan();
    return asked.answer.promise;
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }

  #plan(): void {
    if (this.#timer || this.#isUnderWay || this.#asked.size === 0) return;
    const waitMs = Math.max(0, this.#lastMs + ROUND_MS - performance.now());
    this.#timer = setTimeout(() => void this.#goRound(), waitMs);
  }

  async #goRound(): Promise<void> {
    const round = [...this.#asked].slice(0, MOST_A_ROUND);
    for (const [key] of round) this.#asked.delete(key);
    const all = round.map(([, asked]) => asked);
    this.#timer = undefined;
    this.#isUnderWay = true;
    this.#lastMs = performance.now();
    try {
      const { incarnation, renewed } = await renewAll(this.#pool, all, this.#clock.nowNs());
      const settle = (at: number) => all[at]!.answer.resolve({ isRenewed: renewed.has(at), incarnation });
      this.#settleInTurn(all.length, settle);
    } catch (error) {
      for (const { answer } of all) answer.reject(error);
    }
    this.#isUnderWay = false;
    this.#plan();
  }

  /** An answered agent calls again, so the answers go out a few at a time. */
  #settleInTurn(count: number, settle: (at: number) => void, from = 0): void {
    const to = Math.min(count, from + SETTLED_AT_ONCE);
    for (let at = from; at < to; at++) settle(at);
    if (to < count)
      setTimeout(() => this.#settleInTurn(count, settle, to), (ROUND_MS * SETTLED_AT_ONCE) / MOST_A_ROUND);
  }
}

/**
 * Rows that another transaction has locked are skipped: a report may take seconds, and would hold up the leases of all others. The lease is
 * compared under the lock, and everything that is answered is committed with it.
 */
const renewLeases = prepare(
  (_db, at: Parameters<Round>) => sql<{ incarnation: string; renewed: number[] }>`
    WITH asked AS (
      SELECT * FROM unnest(${at.tokenIds}::text[], ${at.deviceIds}::text[], ${at.siteIds}::text[], ${at.leases}::bigint[], ${at.statuses}::text[])
        WITH ORDINALITY AS asked("tokenId", "deviceId", "siteId", lease, status, at)
    ), standing AS (
      SELECT asked.*, a.id FROM asked JOIN "Agent" a ON a."deviceId" = asked."deviceId"
        JOIN "DeviceToken" t ON t.id = asked."tokenId" AND t.enabled AND t."deviceId" = asked."deviceId"
        JOIN "Credential" c ON c."deviceTokenId" = t.id AND coalesce(c."expiresAtNs" > ${at.nowNs}, true)
      UNION ALL
      SELECT asked.*, a.id FROM asked JOIN "Agent" a ON a."siteId" = asked."siteId"
        JOIN "SiteToken" t ON t.id = asked."tokenId" AND t."siteId" = asked."siteId"
        JOIN "Site" s ON s.id = t."siteId" AND s.type = 'edge'
        JOIN "Credential" c ON c."siteTokenId" = t.id AND coalesce(c."expiresAtNs" > ${at.nowNs}, true)
    ), held AS (
      SELECT a.id, s.at, s.status FROM standing s
        JOIN "Agent" a ON a.id = s.id AND a."leaseNumber" = s.lease AND a."clonedAtNs" IS NULL
        FOR NO KEY UPDATE OF a SKIP LOCKED
    ), renewed AS (
      UPDATE "Agent" a SET "leaseExpiresAtNs" = ${at.untilNs}, "lastSeenAtNs" = ${at.nowNs}, "isOnline" = true,
          status = coalesce(h.status::jsonb, a.status)
        FROM held h WHERE a.id = h.id
          AND (h.status IS NOT NULL OR a."leaseExpiresAtNs" NOT BETWEEN ${at.freshNs} AND ${at.untilNs})
    )
    SELECT incarnation, ARRAY(SELECT at::int - 1 FROM held) AS renewed FROM "Deployment" WHERE id = 1`,
);

/** The columns of all that ask, and the times of their leases. */
interface Round {
  readonly tokenIds: readonly string[];
  readonly deviceIds: readonly (string | null)[];
  readonly siteIds: readonly (string | null)[];
  readonly leases: readonly (string | null)[];
  readonly statuses: readonly (string | null)[];
  readonly nowNs: bigint;
  readonly untilNs: bigint;
  readonly freshNs: bigint;
}

async function renewAll(
  pool: Pool,
  all: readonly Asked[],
  nowNs: bigint,
): Promise<{ incarnation: string; renewed: ReadonlySet<number> }> {
  const rows = await renewLeases(
    { pool },
    {
      tokenIds: all.map(({ caller }) => caller.tokenId),
      deviceIds: all.map(({ caller }) => caller.deviceId),
      siteIds: all.map(({ caller }) => caller.siteId),
      leases: all.map(({ caller }) => caller.lease?.toString() ?? null),
      statuses: all.map(({ status }) => status),
      ...{ nowNs, untilNs: nowNs + LEASE_NS, freshNs: nowNs + FRESH_NS },
    },
  );
  return { incarnation: rows[0]!.incarnation, renewed: new Set(rows[0]!.renewed) };
}
