import { api } from "@downlink/protocol";
import type { Hono } from "hono";
import type { Env } from "../calls/connections/env.ts";
import type { Deps } from "../calls/context/context.ts";
import { serve } from "../calls/serve/serve.ts";
import { apiKeys, shownKey } from "./api-keys/api-keys.ts";
import { audit } from "./audit/audit.ts";
import { customProperties } from "./custom-properties/custom-properties.ts";
import { eventTypes } from "./event-types/event-types.ts";
import { downloadRoute } from "./extensions/download-route.ts";
import { extensions } from "./extensions/extensions.ts";
import { publishRoute } from "./extensions/publish-route.ts";
import { layoutRoutes } from "./layouts/layout-routes.ts";
import { invitations, shownInvitation } from "./members/invitations.ts";
import { me } from "./members/me.ts";
import { members, shownMember } from "./members/members.ts";
import { projectMembers } from "./members/project-members.ts";
import { projects, shownProject } from "./projects/projects.ts";
import { savedViews } from "./saved-views/saved-views.ts";
import { deviceCodeRoutesOf } from "./sign-in/device-code-routes.ts";
import { oidcRoutesOf } from "./sign-in/oidc-routes.ts";
import { resetRoutesOf } from "./sign-in/reset-routes.ts";
import { sessionRoutesOf } from "./sign-in/session-routes.ts";
import { webhookChecks, webhooks } from "./webhooks/webhooks.ts";

/** Binds the resources that all projects of an organization share, and the ways to sign in. */
export function serveOrganization(app: Hono<Env>, deps: Deps): void {
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
  layoutRoutes(app, deps);
  serve(app, deps, { contract: api.extensions, handlers: extensions });
  publishRoute(app, deps);
  downloadRoute(app, deps);
  serve(app, deps, { contract: api.savedViews, handlers: savedViews });
  serve(app, deps, { contract: api.webhooks, handlers: webhooks, checks: webhookChecks });
}
