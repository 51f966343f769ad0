import { sql } from "kysely";
import type { Logger } from "pino";
import type { Clock } from "../../core/clock.ts";
import { ApiError } from "../../core/errors.ts";
import type { Database } from "../../db/client.ts";
import { type Parameters, prepare } from "../../db/prepared.ts";
import { SESSION_IDLE_NS } from "./find-session.ts";

/** A transfer may go on for this long after its link was ended. */
const LOOK_AGAIN_MS = 2000;

/** The API keys and sessions by which links were made, by their ids. */
export interface LinkMakers {
  /** Throws `LinkExpired` if the key or session has ended. */
  require(by: string): Promise<void>;
  /** Aborts a transfer once the key or session has ended, until it is disposed of. */
  hold(by: string, transfer: AbortController): Disposable;
}

interface MakerDeps {
  readonly db: Pick<Database, "pool">;
  readonly clock: Clock;
  readonly log: Logger;
}

/** While transfers are under way, their makers are looked up every two seconds: by one statement, however many they are. */
export function watchMakers({ db, clock, log }: MakerDeps): LinkMakers {
  const held = new Map<AbortController, string>();
  let timer: NodeJS.Timeout | undefined;
  const findThere = async (ids: readonly string[]) => {
    const nowNs = clock.nowNs();
    const rows = await selectThere(db, { ids, nowNs, usedSinceNs: nowNs - SESSION_IDLE_NS });
    return new Set(rows.map(({ id }) => id));
  };
  const look = async () => {
    const there = await findThere([...new Set(held.values())]);
    for (const [transfer, by] of held) if (!there.has(by)) transfer.abort(newEndedError());
  };
  const lookOrWarn = () =>
    void look().catch((error) => log.warn({ err: error }, "cannot look whether links have ended"));
  return {
    async require(by) {
      if (!(await findThere([by])).has(by)) throw newEndedError();
    },
    hold(by, transfer) {
      held.set(transfer, by);
      timer ??= setInterval(lookOrWarn, LOOK_AGAIN_MS);
      return {
        [Symbol.dispose]() {
          held.delete(transfer);
          if (held.size > 0) return;
          clearInterval(timer);
          timer = undefined;
        },
      };
    },
  };
}

function newEndedError(): ApiError {
  return new ApiError("LinkExpired", "the API key or session that made the link has ended; ask for a new one");
}

interface Makers {
  readonly ids: readonly string[];
  readonly nowNs: bigint;
  /** A session that was not used since then has ended. */
  readonly usedSinceNs: bigint;
}

/** Selects the keys and sessions among these that have not ended. */
const selectThere = prepare(
  (_db, { ids, nowNs, usedSinceNs }: Parameters<Makers>) => sql<{ id: string }>`
    SELECT k.id FROM "ApiKey" k JOIN "Credential" c ON c."apiKeyId" = k.id
    WHERE k.id = ANY(${ids}) AND k.enabled AND (c."expiresAtNs" IS NULL OR c."expiresAtNs" > ${nowNs})
    UNION ALL SELECT s.id FROM "SignInSession" s LEFT JOIN "ApiKey" k ON k.id = s."apiKeyId" LEFT JOIN "Credential" c ON c."apiKeyId" = k.id
    WHERE s.id = ANY(${ids}) AND s."expiresAtNs" > ${nowNs} AND (s."isOfProgram" OR s."lastUsedAtNs" > ${usedSinceNs})
      AND (s."memberId" IS NOT NULL OR k.enabled AND (c."expiresAtNs" IS NULL OR c."expiresAtNs" > ${nowNs}))`,
);
