import { edge } from "./edge/edge.ts";
import { agentSettings } from "./resources/agent-settings.ts";
import { apiKeys } from "./resources/api-keys.ts";
import { attachments } from "./resources/attachments.ts";
import { coverage } from "./resources/coverage.ts";
import { customProperties } from "./resources/custom-properties.ts";
import { datasetVersions } from "./resources/dataset-versions.ts";
import { datasets } from "./resources/datasets.ts";
import { deviceTokens } from "./resources/device-tokens.ts";
import { devices } from "./resources/devices.ts";
import { edgeFiles } from "./resources/edge-files.ts";
import { episodes } from "./resources/episodes.ts";
import { eventTypes } from "./resources/event-types.ts";
import { events } from "./resources/events.ts";
import { exportLinks } from "./resources/exports.ts";
import { extensions } from "./resources/extensions.ts";
import { importQueue } from "./resources/import-queue.ts";
import { importRequests } from "./resources/import-requests.ts";
import { imports } from "./resources/imports.ts";
import { lakeFiles } from "./resources/lake-files.ts";
import { layouts } from "./resources/layouts.ts";
import { pendingImports } from "./resources/pending-imports.ts";
import { projects } from "./resources/projects.ts";
import { recordings } from "./resources/recordings.ts";
import { sessions } from "./resources/sessions.ts";
import { inboxTokens, sites, siteTokens } from "./resources/sites.ts";
import { topics } from "./resources/topics.ts";
import { uploads } from "./resources/uploads.ts";
import { viewLinks } from "./resources/view-links.ts";

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
  viewLinks,
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
