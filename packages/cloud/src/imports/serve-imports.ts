import { api } from "@downlink/protocol";
import type { Hono } from "hono";
import type { Env } from "../calls/connections/env.ts";
import type { Deps } from "../calls/context/context.ts";
import { serve } from "../calls/serve/serve.ts";
import { importQueue } from "./import-queue/import-queue.ts";
import { imports } from "./imports/imports.ts";
import { uploadRoute } from "./ingest/upload-route.ts";
import { uploads, uploadsAgain } from "./ingest/uploads.ts";
import { partUploads } from "./part-uploads/part-uploads.ts";
import { importFileRoute } from "./pending-imports/file-route.ts";
import { pendingImports } from "./pending-imports/pending-imports.ts";

/** Binds the resources through which recordings come, and the links to which files are sent. */
export function serveImports(app: Hono<Env>, deps: Deps): void {
  serve(app, deps, { contract: api.importQueue, handlers: importQueue });
  serve(app, deps, { contract: api.pendingImports, handlers: pendingImports });
  importFileRoute(app, deps);
  serve(app, deps, { contract: api.imports, handlers: imports });
  serve(app, deps, { contract: api.uploads, handlers: uploads, agains: uploadsAgain });
  serve(app, deps, { contract: api.partUploads, handlers: partUploads });
  uploadRoute(app, deps);
}
