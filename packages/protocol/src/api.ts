import { edge } from "./edge/edge.ts";
import { agentSettings } from "./resources/agent-settings.ts";
import { apiKeys } from "./resources/api-keys.ts";
import { attachments } from "./resources/attachments.ts";
import { audit } from "./resources/audit.ts";
import { bucketNotifications } from "./resources/bucket-notifications.ts";
import { changes } from "./resources/changes.ts";
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
import { ingestPathPolicies } from "./resources/ingest-path-policies.ts";
import { lakeFiles } from "./resources/lake-files.ts";
import { layouts } from "./resources/layouts.ts";
import { invitations, me, members, projectMembers } from "./resources/members.ts";
import { partUploads } from "./resources/part-uploads.ts";
import { pendingImports } from "./resources/pending-imports.ts";
import { projects } from "./resources/projects.ts";
import { recordingCuts } from "./resources/recording-cuts.ts";
import { recordingFiles } from "./resources/recording-files.ts";
import { recordings } from "./resources/recordings.ts";
import { savedViews } from "./resources/saved-views.ts";
import { sessions } from "./resources/sessions.ts";
import { inboxTokens, sites, siteTokens } from "./resources/sites.ts";
import { thumbnails } from "./resources/thumbnails.ts";
import { topics } from "./resources/topics.ts";
import { datasetMappings, trainingSets } from "./resources/training-sets.ts";
import { uploads } from "./resources/uploads.ts";
import { viewLinks } from "./resources/view-links.ts";
import { webhooks } from "./resources/webhooks.ts";
import { site } from "./site/site.ts";
import { siteUploads } from "./site/site-uploads.ts";

/** The table of contents of the service. */
export const api = {
  projects,
  apiKeys,
  audit,
  members,
  invitations,
  projectMembers,
  me,
  devices,
  agentSettings,
  deviceTokens,
  customProperties,
  events,
  eventTypes,
  sessions,
  recordingFiles,
  recordingCuts,
  recordings,
  attachments,
  partUploads,
  pendingImports,
  importQueue,
  importRequests,
  imports,
  lakeFiles,
  edgeFiles,
  uploads,
  exports: exportLinks,
  viewLinks,
  savedViews,
  topics,
  coverage,
  changes,
  episodes,
  datasets,
  datasetVersions,
  datasetMappings,
  thumbnails,
  trainingSets,
  sites,
  siteTokens,
  inboxTokens,
  ingestPathPolicies,
  bucketNotifications,
  layouts,
  extensions,
  webhooks,
  edge,
  site,
} as const;

/** All that is documented: also what a self-hosted site answers and the control plane does not. */
export const documentedApi = { ...api, siteUploads } as const;
