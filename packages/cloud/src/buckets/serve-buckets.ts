import { api } from "@downlink/protocol";
import type { Hono } from "hono";
import type { Env } from "../calls/connections/env.ts";
import type { Deps } from "../calls/context/context.ts";
import { serve } from "../calls/serve/serve.ts";
import { ingestPathPolicies } from "./bucket-objects/path-policies.ts";
import { bucketNotifications } from "./notifications/bucket-notifications.ts";
import { inboxRoute } from "./notifications/inbox-route.ts";

/** Binds what decides over customers' buckets, and the address to which buckets send notifications. */
export function serveBuckets(app: Hono<Env>, deps: Deps): void {
  serve(app, deps, { contract: api.ingestPathPolicies, handlers: ingestPathPolicies });
  serve(app, deps, { contract: api.bucketNotifications, handlers: bucketNotifications });
  inboxRoute(app, deps);
}
