import { timingSafeEqual } from "node:crypto";
import type { Context, Hono } from "hono";
import { refuse } from "../../core/errors.ts";
import { hashToken } from "../../process/credentials/mint.ts";
import { measureRoom } from "../../process/metrics/measure-room.ts";
import { observeDatabase } from "../../process/metrics/observe-database.ts";
import { observeProcess } from "../../process/metrics/observe-process.ts";
import { awaitInTime, shareWork } from "../connections/await-in-time.ts";
import type { Env } from "../connections/env.ts";
import type { Deps } from "../context/context.ts";
import { bearerOf } from "../serve/authenticate.ts";

const FORWARDED = ["forwarded", "x-forwarded-for", "x-real-ip", "via"];
const LOOPBACK = /^(::ffff:)?127\.|^::1$/;

type MetricsDeps = Pick<Deps, "db" | "folders" | "metrics" | "metricsToken" | "stopping">;

/** Serves `/metrics` in the text format of Prometheus: with a token for its holder, and without one for this machine. */
export function metricsRoute(app: Hono<Env>, deps: MetricsDeps): void {
  const observeProcessSince = observeProcess(deps);
  const observe = shareWork(() => observeDatabase(deps, awaitInTime));
  app.get("/metrics", async (c) => {
    requireReader(c, deps.metricsToken);
    observeProcessSince();
    await Promise.all([observe(), observeRoom(deps)]);
    const { registry } = deps.metrics;
    return c.body(await registry.metrics(), 200, { "Content-Type": registry.contentType });
  });
}

async function observeRoom({ folders, metrics }: MetricsDeps): Promise<void> {
  for (const { of, freeBytes, totalBytes } of await awaitInTime(measureRoom(folders)).catch(() => [])) {
    metrics.diskFreeBytes.set({ of }, freeBytes);
    metrics.diskTotalBytes.set({ of }, totalBytes);
  }
}

function requireReader(c: Context<Env>, token: string | undefined): void {
  if (token === undefined) {
    if (isOfThisMachine(c)) return;
    refuse("Unauthenticated", "metrics are for this machine alone, unless DOWNLINK_METRICS_TOKEN is set");
  }
  const given = bearerOf(c.req.header("authorization") ?? "") ?? "";
  const [theirs, ours] = [given, token].map((text) => Buffer.from(hashToken(text)));
  if (!timingSafeEqual(theirs!, ours!)) refuse("Unauthenticated", "metrics need the token of DOWNLINK_METRICS_TOKEN");
}

/** A call that a proxy on this machine passes on may come from anywhere. */
function isOfThisMachine(c: Context<Env>): boolean {
  const address = c.env.incoming.socket.remoteAddress ?? "";
  return LOOPBACK.test(address) && FORWARDED.every((name) => c.req.header(name) === undefined);
}
