// A link ends with what it was made by: an API key that is deleted, disabled or expired, or a session that ends, as it does when its member
// is removed. A stream that has begun ends within two seconds. A self-hosted site has no database, so there a link lives until its time, and
// so does one that an operator made at the command line.

import type { Context } from "hono";
import { sql } from "kysely";
import type { Logger } from "pino";
import { ApiError } from "../../core/errors.ts";
import { verifyLink } from "../../core/signed-link.ts";
import { type Parameters, prepare } from "../../db/prepared.ts";
import { SESSION_IDLE_NS } from "../../process/credentials/find-session.ts";
import type { Deps } from "../context/context.ts";
import type { Env } from "../http/env.ts";
import { type DataPlaneDeps, openLink } from "./link-request.ts";

/** A stream may go on for this long after its link was ended. */
const LOOK_AGAIN_MS = 2000;

export interface MadeLink extends Disposable {
  readonly claims: Readonly<Record<string, string>>;
  /** Aborted when the link ends before its time, until this is disposed of. */
  readonly gone: AbortController;
}

/** Opens the link of a request, if whatever it was made by still exists. Throws as {@link verifyLink} does. */
export async function openMadeLink(
  c: Context<Env>,
  deps: Omit<DataPlaneDeps, "blobs"> & Partial<Pick<Deps, "db">>,
): Promise<MadeLink> {
  const claims = openLink(c, deps, verifyLink);
  const gone = new AbortController();
  const { db, clock } = deps;
  const { by } = claims;
  if (!db || by === undefined) return { claims, gone, [Symbol.dispose]: () => undefined };
  const isThere = async () => {
    const nowNs = clock.nowNs();
    return (await selectMaker(db, { by, nowNs, usedSinceNs: nowNs - SESSION_IDLE_NS })).length > 0;
  };
  if (!(await isThere())) throw newEndedError();
  const watch = watchLink(deps, async () => void ((await isThere()) || gone.abort(newEndedError())));
  return { claims, gone, [Symbol.dispose]: () => watch[Symbol.dispose]() };
}

/** Looks every two seconds, as `look` does, until it is disposed of. */
export function watchLink({ log }: { readonly log: Logger }, look: () => Promise<void>): Disposable {
  const lookOrWarn = () =>
    void look().catch((error) => log.warn({ err: error }, "cannot look whether a link has ended"));
  const timer = setInterval(lookOrWarn, LOOK_AGAIN_MS);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

function newEndedError(): ApiError {
  return new ApiError("LinkExpired", "the API key or session that made the link has ended; ask for a new one");
}

interface Maker {
  /** The id of the key or session. */
  readonly by: string;
  readonly nowNs: bigint;
  /** A session that was not used since then has ended. */
  readonly usedSinceNs: bigint;
}

/** Returns a row if the key or session has not ended. */
const selectMaker = prepare(
  (_db, { by, nowNs, usedSinceNs }: Parameters<Maker>) => sql<{ one: number }>`
    SELECT 1 AS one FROM "ApiKey" k JOIN "Credential" c ON c."apiKeyId" = k.id
    WHERE k.id = ${by} AND k.enabled AND (c."expiresAtNs" IS NULL OR c."expiresAtNs" > ${nowNs})
    UNION ALL SELECT 1 FROM "SignInSession" s LEFT JOIN "ApiKey" k ON k.id = s."apiKeyId" LEFT JOIN "Credential" c ON c."apiKeyId" = k.id
    WHERE s.id = ${by} AND s."expiresAtNs" > ${nowNs} AND (s."isOfProgram" OR s."lastUsedAtNs" > ${usedSinceNs})
      AND (s."memberId" IS NOT NULL OR k.enabled AND (c."expiresAtNs" IS NULL OR c."expiresAtNs" > ${nowNs}))`,
);
