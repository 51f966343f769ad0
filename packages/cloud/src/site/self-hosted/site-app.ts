import { Hono } from "hono";
import { answerError } from "../../calls/answers/answer-error.ts";
import { awaitInTime } from "../../calls/connections/await-in-time.ts";
import type { Env } from "../../calls/connections/env.ts";
import { ExactFirstRouter } from "../../calls/connections/exact-first-router.ts";
import { frameRequests } from "../../calls/connections/frame-requests.ts";
import { linkInTurn } from "../../calls/connections/in-turn.ts";
import { refuseEncoding } from "../../calls/connections/refuse-encoding.ts";
import { allowCrossOrigin } from "../../calls/data-plane/allow-cross-origin.ts";
import { partRoute, pieceRoute } from "../../calls/data-plane/part-route.ts";
import { storedFileRoute } from "../../calls/data-plane/stored-file.ts";
import { ApiError } from "../../core/errors.ts";
import { attachmentDownloadRoute } from "../../data/attachments/download-route.ts";
import { exportRoute } from "../../data/exports/export-route.ts";
import { agentUploadRoutes } from "./agent-upload-route.ts";
import type { SiteDeps } from "./site-deps.ts";
import { siteUploadRoute } from "./upload-route.ts";

interface Callbacks {
  onReceived(): void;
  readSelection(id: string): Promise<Uint8Array>;
}

/** The HTTP interface of a self-hosted site: its health, and what signed links lead to. It takes no token of anybody. */
export function createSiteApp(deps: SiteDeps, { onReceived, readSelection }: Callbacks): Hono<Env> {
  const app = new Hono<Env>({ router: new ExactFirstRouter() });
  app.use(frameRequests(deps), refuseEncoding);
  app.onError((error, c) => answerError(c, error, deps.log));
  app.notFound((c) => answerError(c, new ApiError("NotFound", `there is no ${c.req.method} ${c.req.path}`), deps.log));
  allowCrossOrigin(app, deps);
  app.use("/data-plane/*", (_c, next) => deps.clock.untilAsked().then(next), linkInTurn(deps.turns));
  health(app, deps);
  siteUploadRoute(app, deps, onReceived);
  agentUploadRoutes(app, deps, onReceived);
  partRoute(app, deps);
  pieceRoute(app, deps);
  exportRoute(app, deps, readSelection);
  attachmentDownloadRoute(app, deps);
  storedFileRoute(app, deps);
  return app;
}

/** `/readyz` fails while the site cannot serve what it has, and not because the control plane is away. */
function health(app: Hono<Env>, { blobs, stopping, memory }: SiteDeps): void {
  app.get("/livez", (c) => c.json({ status: "live" }));
  app.get("/readyz", async (c) => {
    const fault = await findFault();
    if (fault === undefined) return c.json({ status: "ready" });
    throw new ApiError("Unavailable", fault, { retryAfterSeconds: 5 });
  });

  async function findFault(): Promise<string | undefined> {
    if (stopping.aborted) return "shutting down";
    if (!memory.facts) return "the site has never reached its control plane";
    if (memory.facts.keys.length === 0) return "the control plane does not accept the site's token any more";
    return awaitInTime(blobs.check()).catch(() => "the object store cannot be reached");
  }
}
