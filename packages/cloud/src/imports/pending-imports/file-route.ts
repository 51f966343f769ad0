import { apiKey } from "@downlink/protocol";
import type { Hono } from "hono";
import { noteDownload } from "../../calls/audit-log/note-sent.ts";
import type { Env } from "../../calls/connections/env.ts";
import type { Deps } from "../../calls/context/context.ts";
import { linkStoredFile } from "../../calls/data-plane/stored-file.ts";
import { openContext } from "../../calls/serve/serve.ts";
import { DOWNLOAD_LIFE_MS } from "../../core/signed-link.ts";
import { findFile } from "./find-file.ts";

const access = apiKey("data.stream", "projects");

/** `GET /v1/data/pending-imports/{requestId}/file`: 302 to a link that needs no credential. */
export function importFileRoute(app: Hono<Env>, deps: Deps): void {
  app.get("/v1/data/pending-imports/:requestId/file", async (c) => {
    const ctx = await openContext(c, deps, access);
    const file = await findFile(ctx, c.req.param("requestId"));
    await noteDownload(ctx, {
      operation: "pendingImports.download",
      resourceKind: "importFile",
      resourceId: file.id,
      what: { filename: file.path },
    });
    c.header("Cache-Control", "no-store");
    return c.redirect((await linkStoredFile(ctx, file, DOWNLOAD_LIFE_MS)).link, 302);
  });
}
