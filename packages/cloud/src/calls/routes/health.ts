import type { Hono } from "hono";
import { ApiError } from "../../core/errors.ts";
import { missingMigrations } from "../../db/migrations.ts";
import { measureRoom } from "../../process/metrics/measure-room.ts";
import { findWrongStore, readRecoveryReason } from "../../recovery/report-recovery.ts";
import { awaitInTime, shareWork } from "../connections/await-in-time.ts";
import type { Env } from "../connections/env.ts";
import type { Deps } from "../context/context.ts";

const RETRY_AFTER_SECONDS = 5;

type HealthDeps = Pick<Deps, "db" | "blobs" | "migrations" | "folders" | "log" | "stopping">;

/**
 * `/livez` succeeds if the process answers. `/readyz` succeeds if it can serve: it was not told to stop, its database answers and has all
 * migrations, and its object store accepts objects and is the right one; otherwise it is 503 with the reason. While database and store are
 * being compared after a restore it serves, and says why. A full disk does not end what only reads: `disks` shows the room.
 */
export function healthRoutes(app: Hono<Env>, deps: HealthDeps): void {
  const findFault = shareWork(() => lookForFault(deps));
  const findRecovering = () => faultOf(deps, "the database does not answer", () => readRecoveryReason(deps.db));
  const findRoom = shareWork(() => awaitInTime(measureRoom(deps.folders)).catch(() => undefined)); // a disk that hangs tells nothing
  app.get("/livez", (c) => c.json({ status: "live" }));
  app.get("/readyz", async (c) => {
    const fault = deps.stopping.aborted ? "shutting down" : await findFault();
    if (fault === undefined)
      return c.json({ status: "ready", recovering: await findRecovering(), disks: await findRoom() });
    throw new ApiError("Unavailable", fault, { retryAfterSeconds: RETRY_AFTER_SECONDS });
  });
}

async function lookForFault(deps: HealthDeps): Promise<string | undefined> {
  const faults = await Promise.all([
    faultOf(deps, "the database does not answer", () => findMissing(deps)),
    faultOf(
      deps,
      "the object store cannot be reached",
      async () => (await deps.blobs.check()) ?? (await findWrongStore(deps)),
    ),
  ]);
  return faults.filter((fault) => fault !== undefined).join("; ") || undefined;
}

/**
 * Returns what the check finds, or `sentence` if the check fails or does not end: the cause goes only to the log, because it may name hosts
 * and paths.
 */
async function faultOf(
  { log }: HealthDeps,
  sentence: string,
  check: () => Promise<string | undefined>,
): Promise<string | undefined> {
  try {
    return await awaitInTime(check());
  } catch (error) {
    log.warn({ err: error }, sentence);
    return sentence;
  }
}

async function findMissing({ db, migrations }: HealthDeps): Promise<string | undefined> {
  const missing = await missingMigrations(db.pool, migrations);
  return missing.length > 0 ? `the database lacks migrations of this version: ${missing.join(", ")}` : undefined;
}
