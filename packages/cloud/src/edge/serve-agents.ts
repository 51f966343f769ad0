import { api } from "@downlink/protocol";
import type { Hono } from "hono";
import type { Env } from "../calls/connections/env.ts";
import type { Deps } from "../calls/context/context.ts";
import { nameIncarnation } from "../calls/serve/name-incarnation.ts";
import { serve } from "../calls/serve/serve.ts";
import { edge } from "./edge.ts";
import { edgeFiles } from "./edge-files.ts";
import { workRoute } from "./work/work-route.ts";

/** Binds what agents call, and the files on devices as people see them. */
export function serveAgents(app: Hono<Env>, deps: Deps): void {
  app.use("/v1/edge/*", nameIncarnation(deps));
  workRoute(app, deps);
  serve(app, deps, edge);
  serve(app, deps, { contract: api.edgeFiles, handlers: edgeFiles });
}
