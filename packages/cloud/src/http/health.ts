import type { Hono } from "hono";
import type { Deps } from "../context/context.ts";
import { ApiError } from "../core/errors.ts";
import { missingMigrations } from "../db/migrations.ts";
import type { Env } from "./env.ts";
import { inTime, sharing } from "./in-time.ts";

const RETRY_AFTER_SECONDS = 5;

type HealthDeps = Pick<Deps, "db" | "blobs" | "migrations" | "log" | "stopping">;

/**
 * `/livez`: the process answers. `/readyz`: it serves: it was not told to stop, its database answers and has all migrations, and its
 * object store takes objects; else 503 with the reason.
 */
export function healthRoutes(app: Hono<Env>, deps: HealthDeps): void {
  const findFault = sharing(() => lookForFault(deps));
  app.get("/livez", (c) => c.json({ status: "live" }));
  app.get("/readyz", async (c) => {
    const fault = deps.stopping.aborted ? "shutting down" : await findFault();
    if (fault === undefined) return c.json({ status: "ready" });
    throw new ApiError("Unavailable", fault, { retryAfterSeconds: RETRY_AFTER_SECONDS });
  });
}

async function lookForFault(deps: HealthDeps): Promise<string | undefined> {
  const faults = await Promise.all([
    faultOf(deps, "the database does not answer", () => findMissing(deps)),
    faultOf(deps, "the object store cannot be reached", () => deps.blobs.check()),
  ]);
  return faults.filter((fault) => fault !== undefined).join("; ") || undefined;
}

/** What the check finds, or `sentence` where it fails or does not end: the reason of that is for the log, it may name hosts and paths. */
async function faultOf(
  { log }: HealthDeps,
  sentence: string,
  check: () => Promise<string | undefined>,
): Promise<string | undefined> {
  try {
    return await inTime(check());
  } catch (error) {
    log.warn({ err: error }, sentence);
    return sentence;
  }
}

async function findMissing({ db, migrations }: HealthDeps): Promise<string | undefined> {
  const missing = await missingMigrations(db.pool, migrations);
  return missing.length > 0 ? `the database lacks migrations of this version: ${missing.join(", ")}` : undefined;
}
