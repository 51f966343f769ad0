import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import type { Database } from "../../db/client.ts";
import { Prisma } from "../../db/generated/client.ts";
import { writeSql } from "../../db/read-sql.ts";

const MINUTE_NS = 60_000_000_000n;
const FLUSH_MS = 30_000;
/** A process that stops waits no longer for its last write, which may wait for a lock of another process. */
const LAST_FLUSH_MS = 2000;

/**
 * Records to the minute when tokens were used last. A call only notes the use in memory; twice a minute one statement writes all of them,
 * so that no call waits for it or writes. A crash loses at most half a minute.
 */
export interface TokenUses {
  note(tokenSha256: string): void;
}

export class NotedTokenUses implements TokenUses, AsyncDisposable {
  readonly #db: Pick<Database, "pool">;
  readonly #nowNs: () => bigint;
  readonly #noted = new Map<string, bigint>();
  readonly #log: Logger;
  readonly #timer: NodeJS.Timeout;

  constructor({ db, clock, log }: { db: Pick<Database, "pool">; clock: { nowNs(): bigint }; log: Logger }) {
    this.#db = db;
    this.#nowNs = () => clock.nowNs();
    this.#log = log;
    this.#timer = setInterval(() => this.#flushOrWarn(), FLUSH_MS).unref();
  }

  note(tokenSha256: string): void {
    const nowNs = this.#nowNs();
    this.#noted.set(tokenSha256, nowNs - (nowNs % MINUTE_NS));
  }

  /** Another process may have written a later minute. All writers use the same order, so that they never deadlock. */
  async flush(): Promise<void> {
    const noted = [...this.#noted].sort(([one], [other]) => (one < other ? -1 : 1));
    this.#noted.clear();
    if (noted.length === 0) return;
    const [hashes, minutes] = [noted.map(([hash]) => hash), noted.map(([, minuteNs]) => minuteNs)];
    await writeSql(
      this.#db,
      Prisma.sql`
        WITH used AS (
          SELECT c."tokenSha256", u."minuteNs" FROM unnest(${hashes}::text[], ${minutes}::bigint[]) AS u("tokenSha256", "minuteNs")
          JOIN "Credential" c USING ("tokenSha256") WHERE coalesce(c."lastUsedAtNs", 0) < u."minuteNs"
          ORDER BY c."tokenSha256" FOR NO KEY UPDATE OF c)
        UPDATE "Credential" c SET "lastUsedAtNs" = used."minuteNs" FROM used WHERE c."tokenSha256" = used."tokenSha256"`,
    );
  }

  /** A failed write loses at most half a minute of times that are exact to the minute, so it must not hold up others or end the process. */
  #flushOrWarn(): Promise<void> {
    return this.flush().catch((error: unknown) => this.#log.warn({ err: error }, "uses of tokens were not kept"));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await Promise.race([this.#flushOrWarn(), delay(LAST_FLUSH_MS, undefined, { ref: false })]);
  }
}
