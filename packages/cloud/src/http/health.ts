import type { Hono } from "hono";
import type { Deps } from "../context.ts";
import type { Env } from "./env.ts";
import { ApiError } from "./errors.ts";

const RETRY_AFTER_SECONDS = 5;

/** `/livez`: the process answers. `/readyz`: it serves: its database answers, and it is not shutting down. */
export function healthRoutes(app: Hono<Env>, deps: Pick<Deps, "db" | "stopping">): void {
  app.get("/livez", (c) => c.json({ status: "live" }));
  app.get("/readyz", async (c) => {
    if (deps.stopping.aborted)
      throw new ApiError("Unavailable", "shutting down", { retryAfterSeconds: RETRY_AFTER_SECONDS });
    await deps.db.prisma.$queryRaw`SELECT 1`;
    return c.json({ status: "ready" });
  });
}
