import { api, sessionRoutes } from "@downlink/protocol";
import { Hono } from "hono";
import { ingestPathPolicies } from "./buckets/bucket-objects/path-policies.ts";
import { bucketNotifications } from "./buckets/notifications/bucket-notifications.ts";
import { INBOX_PATH, inboxRoute } from "./buckets/notifications/inbox-route.ts";
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
import { consoleRoutes } from "./calls/routes/console-route.ts";
import { docsRoutes } from "./calls/routes/docs-route.ts";
import { guideRoutes } from "./calls/routes/guide-route.ts";
import { healthRoutes } from "./calls/routes/health.ts";
import { installRoutes } from "./calls/routes/install-route.ts";
import { metricsRoute } from "./calls/routes/metrics-route.ts";
import { securityTextRoute } from "./calls/routes/security-text-route.ts";
import { nameCaller } from "./calls/serve/name-caller.ts";
import { nameIncarnation } from "./calls/serve/name-incarnation.ts";
import { serve } from "./calls/serve/serve.ts";
import { ApiError } from "./core/errors.ts";
import { attachments } from "./data/attachments/attachments.ts";
import { attachmentDownloadRoute, attachmentRoute } from "./data/attachments/download-route.ts";
import { changesRoute } from "./data/changes/changes-route.ts";
import { coverage } from "./data/coverage/coverage.ts";
import { datasetVersions } from "./data/datasets/dataset-versions.ts";
import { datasets } from "./data/datasets/datasets.ts";
import { episodes } from "./data/episodes/episodes.ts";
import { exportRoute } from "./data/exports/export-route.ts";
import { exportLinks } from "./data/exports/exports.ts";
import { lakeFiles } from "./data/lake-files/lake-files.ts";
import { importRequests } from "./data/recordings/import-requests.ts";
import { recordings } from "./data/recordings/recordings.ts";
import { topics } from "./data/topics/topics.ts";
import { viewLinks, viewLinksAgain } from "./data/view-links/view-links.ts";
import { viewRoute } from "./data/view-links/view-route.ts";
import { edge } from "./edge/edge.ts";
import { edgeFiles } from "./edge/edge-files.ts";
import { boundPolls } from "./edge/work/poll-crowds.ts";
import { workRoute } from "./edge/work/work-route.ts";
import { deviceTokens } from "./fleet/device-tokens/device-tokens.ts";
import { agentSettings, shownSettings } from "./fleet/devices/agent-settings.ts";
import { devices } from "./fleet/devices/devices.ts";
import { events } from "./fleet/events/events.ts";
import { sessions } from "./fleet/sessions/sessions.ts";
import { inboxTokens, shownInboxToken } from "./fleet/sites/inbox-tokens.ts";
import { shownSiteToken, siteTokens } from "./fleet/sites/site-tokens.ts";
import { sites } from "./fleet/sites/sites.ts";
import { importQueue } from "./imports/import-queue/import-queue.ts";
import { imports } from "./imports/imports/imports.ts";
import { uploadRoute } from "./imports/ingest/upload-route.ts";
import { uploads, uploadsAgain } from "./imports/ingest/uploads.ts";
import { importFileDownloadRoute, importFileRoute } from "./imports/pending-imports/file-route.ts";
import { pendingImports } from "./imports/pending-imports/pending-imports.ts";
import { apiKeys, shownKey } from "./organization/api-keys/api-keys.ts";
import { audit } from "./organization/audit/audit.ts";
import { customProperties } from "./organization/custom-properties/custom-properties.ts";
import { eventTypes } from "./organization/event-types/event-types.ts";
import { downloadRoute } from "./organization/extensions/download-route.ts";
import { extensions } from "./organization/extensions/extensions.ts";
import { publishRoute } from "./organization/extensions/publish-route.ts";
import { layoutRoutes } from "./organization/layouts/layout-routes.ts";
import { invitations, shownInvitation } from "./organization/members/invitations.ts";
import { me } from "./organization/members/me.ts";
import { members, shownMember } from "./organization/members/members.ts";
import { projectMembers } from "./organization/members/project-members.ts";
import { projects, shownProject } from "./organization/projects/projects.ts";
import { savedViews } from "./organization/saved-views/saved-views.ts";
import { deviceCodeRoutesOf } from "./organization/sign-in/device-code-routes.ts";
import { oidcRoutesOf } from "./organization/sign-in/oidc-routes.ts";
import { resetRoutesOf } from "./organization/sign-in/reset-routes.ts";
import { sessionRoutesOf } from "./organization/sign-in/session-routes.ts";
import { webhookChecks, webhooks } from "./organization/webhooks/webhooks.ts";
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

/** Creates the HTTP interface of the control plane: first the middleware in its order, then one line for each resource. */
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
  docsRoutes(app, deps);
  securityTextRoute(app, deps);
  installRoutes(app, deps);
  consoleRoutes(app, deps.consoleFolder);
  guideRoutes(app, deps.guideFolder);
  serveOrganization(app, deps);
  serveDevices(app, deps);
  serveRecordings(app, deps);
  serveAgents(app, deps);
  moveBytes(app, deps);
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

/** Binds the resources that all projects of an organization share. */
function serveOrganization(app: Hono<Env>, deps: Deps): void {
  serve(app, deps, { contract: api.projects, handlers: projects, shown: shownProject });
  serve(app, deps, { contract: api.apiKeys, handlers: apiKeys, shown: shownKey });
  serve(app, deps, { contract: api.audit, handlers: audit });
  serve(app, deps, { contract: api.members, handlers: members, shown: shownMember });
  serve(app, deps, { contract: api.invitations, handlers: invitations, shown: shownInvitation });
  serve(app, deps, { contract: api.projectMembers, handlers: projectMembers });
  serve(app, deps, { contract: api.me, handlers: me });
  sessionRoutesOf(app, deps);
  resetRoutesOf(app, deps);
  oidcRoutesOf(app, deps);
  deviceCodeRoutesOf(app, deps);
  serve(app, deps, { contract: api.customProperties, handlers: customProperties });
  serve(app, deps, { contract: api.eventTypes, handlers: eventTypes });
  serve(app, deps, { contract: api.sites, handlers: sites });
  serve(app, deps, { contract: api.siteTokens, handlers: siteTokens, shown: shownSiteToken });
  serve(app, deps, { contract: api.inboxTokens, handlers: inboxTokens, shown: shownInboxToken });
  serve(app, deps, { contract: api.ingestPathPolicies, handlers: ingestPathPolicies });
  serve(app, deps, { contract: api.bucketNotifications, handlers: bucketNotifications });
  inboxRoute(app, deps);
  layoutRoutes(app, deps);
  serve(app, deps, { contract: api.extensions, handlers: extensions });
  publishRoute(app, deps);
  serve(app, deps, { contract: api.webhooks, handlers: webhooks, checks: webhookChecks });
}

function serveDevices(app: Hono<Env>, deps: Deps): void {
  serve(app, deps, { contract: api.devices, handlers: devices });
  serve(app, deps, { contract: api.agentSettings, handlers: agentSettings, shown: shownSettings });
  serve(app, deps, { contract: api.deviceTokens, handlers: deviceTokens });
  serve(app, deps, { contract: api.events, handlers: events });
  serve(app, deps, { contract: api.sessions, handlers: sessions });
  serve(app, deps, { contract: api.edgeFiles, handlers: edgeFiles });
}

/** Binds recordings, the resources through which they come and go, and those that are made of them. */
function serveRecordings(app: Hono<Env>, deps: Deps): void {
  serve(app, deps, { contract: api.recordings, handlers: recordings });
  serve(app, deps, { contract: api.importQueue, handlers: importQueue });
  serve(app, deps, { contract: api.importRequests, handlers: importRequests });
  serve(app, deps, { contract: api.attachments, handlers: attachments });
  attachmentRoute(app, deps);
  serve(app, deps, { contract: api.pendingImports, handlers: pendingImports });
  importFileRoute(app, deps);
  serve(app, deps, { contract: api.imports, handlers: imports });
  serve(app, deps, { contract: api.lakeFiles, handlers: lakeFiles });
  serve(app, deps, { contract: api.uploads, handlers: uploads, agains: uploadsAgain });
  serve(app, deps, { contract: api.exports, handlers: exportLinks });
  serve(app, deps, { contract: api.savedViews, handlers: savedViews });
  serve(app, deps, { contract: api.viewLinks, handlers: viewLinks, agains: viewLinksAgain });
  serve(app, deps, { contract: api.topics, handlers: topics });
  changesRoute(app, deps);
  serve(app, deps, { contract: api.coverage, handlers: coverage });
  serve(app, deps, { contract: api.episodes, handlers: episodes });
  serve(app, deps, { contract: api.datasets, handlers: datasets });
  serve(app, deps, { contract: api.datasetVersions, handlers: datasetVersions });
}

function serveAgents(app: Hono<Env>, deps: Deps): void {
  app.use(`${AGENTS}*`, nameIncarnation(deps));
  workRoute(app, deps);
  serve(app, deps, edge);
  serve(app, deps, siteWork);
}

/** Binds the routes that signed links lead to. */
function moveBytes(app: Hono<Env>, deps: Deps): void {
  uploadRoute(app, deps);
  partRoute(app, deps);
  pieceRoute(app, deps);
  exportRoute(app, deps);
  viewRoute(app, deps);
  downloadRoute(app, deps);
  attachmentDownloadRoute(app, deps);
  importFileDownloadRoute(app, deps);
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
