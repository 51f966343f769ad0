import { apiKeys } from "./api-keys.ts";
import { coverage } from "./coverage.ts";
import { customProperties } from "./custom-properties.ts";
import { deviceTokens } from "./device-tokens.ts";
import { devices } from "./devices.ts";
import { edge } from "./edge.ts";
import { edgeFiles } from "./edge-files.ts";
import { eventTypes } from "./event-types.ts";
import { events } from "./events.ts";
import { exportLinks } from "./exports.ts";
import { extensions } from "./extensions.ts";
import { layouts } from "./layouts.ts";
import { pendingImports } from "./pending-imports.ts";
import { projects } from "./projects.ts";
import { recordings } from "./recordings.ts";
import { sessions } from "./sessions.ts";
import { inboxTokens, sites, siteTokens } from "./sites.ts";
import { topics } from "./topics.ts";
import { uploads } from "./uploads.ts";

/** The table of contents of the service. */
export const api = {
  projects,
  apiKeys,
  devices,
  deviceTokens,
  customProperties,
  events,
  eventTypes,
  sessions,
  recordings,
  pendingImports,
  edgeFiles,
  uploads,
  exports: exportLinks,
  topics,
  coverage,
  sites,
  siteTokens,
  inboxTokens,
  layouts,
  extensions,
  edge,
} as const;
