import { api, sessionRoutes } from "@downlink/protocol";
import { Hono } from "hono";
import { INBOX_PATH } from "./buckets/notifications/inbox-route.ts";
import { serveBuckets } from "./buckets/serve-buckets.ts";
import { answerError } from "./calls/answers/answer-error.ts";
import { nameCalledOrigin } from "./calls/connections/called-origin.ts";
import type { Env } from "./calls/connections/env.ts";
import { ExactFirstRouter } from "./calls/connections/exact-first-router.ts";
import { frameRequests } from "./calls/connections/frame-requests.ts";
import { callInTurn, linkInTurn } from "./calls/connections/in-turn.ts";
import { limitFailures } from "./calls/connections/limit-rates.ts";
import { refuseEncoding } from "./calls/connections/refuse-encoding.ts";
import type { Deps } from "./calls/context/context.ts";
import { allowApiOrigins, allowCrossOrigin } from "./calls/data-plane/allow-cross-origin.ts";
import { partRoute, pieceRoute } from "./calls/data-plane/part-route.ts";
import { healthRoutes } from "./calls/routes/health.ts";
import { metricsRoute } from "./calls/routes/metrics-route.ts";
import { servePages } from "./calls/routes/serve-pages.ts";
import { nameCaller } from "./calls/serve/name-caller.ts";
import { serve } from "./calls/serve/serve.ts";
import { ApiError } from "./core/errors.ts";
import { serveData } from "./data/serve-data.ts";
import { serveAgents } from "./edge/serve-agents.ts";
import { boundPolls } from "./edge/work/poll-crowds.ts";
import { serveFleet } from "./fleet/serve-fleet.ts";
import { serveImports } from "./imports/serve-imports.ts";
import { serveOrganization } from "./organization/serve-organization.ts";
import { siteWork } from "./site/site-work/site-work.ts";

const AGENTS = "/v1/edge/";
const SITES = "/v1/site/";
const DATA_PLANE = "/data-plane/";

/** Creates the endpoints of a process that works on jobs and serves no calls: its health and its metrics. */
export function createHealthApp(deps: Deps): Hono<Env> {
  const app = new Hono<Env>();
  app.use(frameRequests(deps));
  answerRefusals(app, deps);
  healthRoutes(app, deps);
  metricsRoute(app, deps);
  return app;
}

/** Creates the HTTP interface of the control plane: first the middleware in its order, then what each room serves. */
export function createApp(deps: Deps): Hono<Env> {
  const app = new Hono<Env>({ router: new ExactFirstRouter() });
  app.use(frameRequests(deps), refuseEncoding, nameCalledOrigin(deps));
  for (const path of [api.edge.work.path, api.site.work.path])
    app.use(
      path,
      boundPolls((c) => nameCaller(c, deps)),
    );
  limitCalls(app, deps);
  answerRefusals(app, deps);

  allowCrossOrigin(app, deps);
  allowApiOrigins(app, deps);
  app.use(`${DATA_PLANE}*`, linkInTurn(deps.turns));
  healthRoutes(app, deps);
  metricsRoute(app, deps);
  servePages(app, deps);
  serveOrganization(app, deps);
  serveFleet(app, deps);
  serveBuckets(app, deps);
  serveImports(app, deps);
  serveData(app, deps);
  serveAgents(app, deps);
  serve(app, deps, siteWork);
  partRoute(app, deps);
  pieceRoute(app, deps);
  return app;
}

/** An inbox is called with its token in the query. */
function limitCalls(app: Hono<Env>, deps: Deps): void {
  const failures = limitFailures(deps.rates, deps.trustedProxies);
  const turns = (path: string) => turnsOf(deps, path);
  app.use(
    "/v1/*",
    failures,
    callInTurn(turns, (c) => nameCaller(c, deps)),
  );
  app.use(
    INBOX_PATH,
    failures,
    callInTurn(turns, (c) => nameCaller(c, deps, c.req.query("token"))),
  );
}

const SIGN_IN = [sessionRoutes.begin.path, "/v1/auth", "/v1/signin"];

/**
 * A site's call for work and a call for changes wait until there is something new. They take no turn, because other calls would wait until
 * they end. A caller that signs in takes none either: it has no token yet to be known by, and waits for the turn in which its password is
 * checked.
 */
function turnsOf({ turns }: Deps, path: string) {
  const signsIn = SIGN_IN.some((begin) => path === begin || path.startsWith(`${begin}/`));
  if (path === api.site.work.path || path === api.changes.list.path || signsIn) return undefined;
  return path.startsWith(AGENTS) || path.startsWith(SITES) ? turns.agents : turns.calls;
}

function answerRefusals(app: Hono<Env>, { log }: Deps): void {
  app.onError((error, c) => answerError(c, error, log));
  app.notFound((c) => {
    const { method, path } = c.req;
    const methods = app.router instanceof ExactFirstRouter ? app.router.methodsOf(path) : [];
    if (methods.length === 0) return answerError(c, new ApiError("NotFound", `there is no ${method} ${path}`), log);
    c.header("Allow", methods.join(", "));
    return answerError(c, new ApiError("MethodNotAllowed", `${path} takes ${methods.join(", ")}, not ${method}`), log);
  });
}
