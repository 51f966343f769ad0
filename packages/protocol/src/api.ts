import { agentSettings } from "./agent-settings.ts";
import { apiKeys } from "./api-keys.ts";
import { attachments } from "./attachments.ts";
import { coverage } from "./coverage.ts";
import { customProperties } from "./custom-properties.ts";
import { datasetVersions } from "./dataset-versions.ts";
import { datasets } from "./datasets.ts";
import { deviceTokens } from "./device-tokens.ts";
import { devices } from "./devices.ts";
import { edge } from "./edge.ts";
import { edgeFiles } from "./edge-files.ts";
import { episodes } from "./episodes.ts";
import { eventTypes } from "./event-types.ts";
import { events } from "./events.ts";
import { exportLinks } from "./exports.ts";
import { extensions } from "./extensions.ts";
import { importQueue } from "./import-queue.ts";
import { importRequests } from "./import-requests.ts";
import { imports } from "./imports.ts";
import { lakeFiles } from "./lake-files.ts";
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
  agentSettings,
  deviceTokens,
  customProperties,
  events,
  eventTypes,
  sessions,
  recordings,
  attachments,
  pendingImports,
  importQueue,
  importRequests,
  imports,
  lakeFiles,
  edgeFiles,
  uploads,
  exports: exportLinks,
  topics,
  coverage,
  episodes,
  datasets,
  datasetVersions,
  sites,
  siteTokens,
  inboxTokens,
  layouts,
  extensions,
  edge,
} as const;
