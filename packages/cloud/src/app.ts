import { api } from "@downlink/protocol";
import { Hono } from "hono";
import type { Deps } from "./context.ts";
import { coverage } from "./coverage/coverage.ts";
import { partRoute } from "./data-plane/part-route.ts";
import { deviceTokens } from "./device-tokens/device-tokens.ts";
import { devices } from "./devices/devices.ts";
import { edge } from "./edge/edge.ts";
import { edgeFiles } from "./edge/edge-files.ts";
import { exportRoute } from "./exports/export-route.ts";
import { exportLinks } from "./exports/exports.ts";
import { answerError } from "./http/answer-error.ts";
import { docsRoutes } from "./http/docs-route.ts";
import type { Env } from "./http/env.ts";
import { ApiError } from "./http/errors.ts";
import { healthRoutes } from "./http/health.ts";
import { requestId } from "./http/request-id.ts";
import { requestLog } from "./http/request-log.ts";
import { serve } from "./http/serve.ts";
import { uploadRoute } from "./ingest/upload-route.ts";
import { uploads } from "./ingest/uploads.ts";
import { pendingImports } from "./pending-imports/pending-imports.ts";
import { projects } from "./projects/projects.ts";
import { recordings } from "./recordings/recordings.ts";
import { topics } from "./topics/topics.ts";

/** The HTTP face of the control plane: middleware in order, then one line a resource. */
export function createApp(deps: Deps): Hono<Env> {
  const app = new Hono<Env>();
  app.use(requestId, requestLog(deps.log));
  app.onError((error, c) => answerError(c, error, deps.log));
  app.notFound((c) => answerError(c, new ApiError("NotFound", `there is no ${c.req.method} ${c.req.path}`), deps.log));

  healthRoutes(app, deps);
  docsRoutes(app, deps);
  serve(app, deps, { contract: api.projects, handlers: projects });
  serve(app, deps, { contract: api.devices, handlers: devices });
  serve(app, deps, { contract: api.deviceTokens, handlers: deviceTokens });
  serve(app, deps, { contract: api.recordings, handlers: recordings });
  serve(app, deps, { contract: api.pendingImports, handlers: pendingImports });
  serve(app, deps, { contract: api.edgeFiles, handlers: edgeFiles });
  serve(app, deps, { contract: api.uploads, handlers: uploads });
  serve(app, deps, { contract: api.exports, handlers: exportLinks });
  serve(app, deps, { contract: api.topics, handlers: topics });
  serve(app, deps, { contract: api.coverage, handlers: coverage });
  serve(app, deps, { contract: api.edge, handlers: edge });
  uploadRoute(app, deps);
  partRoute(app, deps);
  exportRoute(app, deps);
  return app;
}
