import { api } from "@downlink/protocol";
import type { Hono } from "hono";
import type { Env } from "../calls/connections/env.ts";
import type { Deps } from "../calls/context/context.ts";
import { serve } from "../calls/serve/serve.ts";
import { deviceTokens } from "./device-tokens/device-tokens.ts";
import { agentSettings, shownSettings } from "./devices/agent-settings.ts";
import { devices } from "./devices/devices.ts";
import { events } from "./events/events.ts";
import { sessions } from "./sessions/sessions.ts";
import { inboxTokens, shownInboxToken } from "./sites/inbox-tokens.ts";
import { shownSiteToken, siteTokens } from "./sites/site-tokens.ts";
import { sites } from "./sites/sites.ts";

/** Binds devices, sites, and what belongs to them. */
export function serveFleet(app: Hono<Env>, deps: Deps): void {
  serve(app, deps, { contract: api.devices, handlers: devices });
  serve(app, deps, { contract: api.agentSettings, handlers: agentSettings, shown: shownSettings });
  serve(app, deps, { contract: api.deviceTokens, handlers: deviceTokens });
  serve(app, deps, { contract: api.sites, handlers: sites });
  serve(app, deps, { contract: api.siteTokens, handlers: siteTokens, shown: shownSiteToken });
  serve(app, deps, { contract: api.inboxTokens, handlers: inboxTokens, shown: shownInboxToken });
  serve(app, deps, { contract: api.events, handlers: events });
  serve(app, deps, { contract: api.sessions, handlers: sessions });
}
