import type { Hono } from "hono";
import type { Env } from "../connections/env.ts";
import type { Deps } from "../context/context.ts";
import { consoleRoutes } from "./console-route.ts";
import { docsRoutes } from "./docs-route.ts";
import { guideRoutes } from "./guide-route.ts";
import { installRoutes } from "./install-route.ts";
import { securityTextRoute } from "./security-text-route.ts";

/** Binds the pages that belong to no resource: documents, packages of the agent, the console and the guide. */
export function servePages(app: Hono<Env>, deps: Deps): void {
  docsRoutes(app, deps);
  securityTextRoute(app, deps);
  installRoutes(app, deps);
  consoleRoutes(app, deps.consoleFolder);
  guideRoutes(app, deps.guideFolder);
}
