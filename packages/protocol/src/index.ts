export { api, documentedApi } from "./api.ts";
export { edge, type Unassigned } from "./edge/edge.ts";
export {
  type DeviceReference,
  EdgeItem,
  type EdgeOtherItem,
  type EdgeRecordingItem,
  EdgeTopic,
} from "./edge/edge-items.ts";
export { edgeLimits, INCARNATION_HEADER, LEASE_HEADER } from "./edge/edge-limits.ts";
export { PermitAnswer, PermitRefusal } from "./edge/edge-permits.ts";
export {
  CUT_RECORD_NAME,
  type CutFailure,
  DeliveryFailure,
  EdgeSettings,
  EdgeWork,
  SALVAGE_RECORD_NAME,
  type SalvageFailure,
  type WantedCut,
  WantedImport,
  type WantedSalvage,
} from "./edge/edge-work.ts";
export { UploadSite } from "./edge/upload-site.ts";
export { toOpenApi } from "./openapi/openapi.ts";
export type { PlainRoute } from "./openapi/plain-route.ts";
export { extensionUpload, plainRoutes } from "./openapi/plain-routes.ts";
export { deviceCodeRoutes, oidcRoutes, sessionRoutes } from "./openapi/sign-in-routes.ts";
export { isCursorPaged, isPaged, mayBeKept } from "./operations/answers.ts";
export { type AuditedKind, auditedKinds, isAdministrative } from "./operations/audited.ts";
export { type Capability, capabilities, EVERY_CAPABILITY, userCapabilities } from "./operations/capabilities.ts";
export { DEPRECATION_HEADER, deprecationOf } from "./operations/deprecation.ts";
export { ErrorBody, type ErrorCode, errorCodes } from "./operations/errors.ts";
export { createJsonGuard, type JsonLimits } from "./operations/json-guard.ts";
export {
  type Access,
  type Answer,
  apiKey,
  bodyLimits,
  type CallInput,
  type Contract,
  IDEMPOTENCY_HEADER,
  IDEMPOTENCY_HOURS,
  IGNORED_HEADER,
  type Input,
  MAX_IDEMPOTENCY_KEY_CHARACTERS,
  MAX_QUERY_PARAMETERS,
  type Making,
  type Operation,
  type Output,
  pathParameters,
  REPLAYED_HEADER,
  type Reach,
  type WithHeaders,
} from "./operations/operation.ts";
export { AgentSettings, agentSettings } from "./resources/agent-settings.ts";
export { ApiKey, apiKeys } from "./resources/api-keys.ts";
export { attachments, RecordingAttachment } from "./resources/attachments.ts";
export { AuditEntry, audit } from "./resources/audit.ts";
export {
  bucketNotifications,
  MAX_OBJECT_NAME_BYTES,
  NOTIFICATION_DAYS,
  ObjectName,
  StorageProvider,
} from "./resources/bucket-notifications.ts";
export {
  Changes,
  changeKinds,
  changes,
  MAX_CHANGES,
  MAX_CHANGES_WAIT_SECONDS,
  MAX_WAITING_CHANGES,
} from "./resources/changes.ts";
export {
  CoverageGrid,
  CoverageRange,
  CoverageSpan,
  coverage,
  coverageBits,
  MAX_COVERAGE_RANGES,
  MAX_GRID_BINS,
  MAX_GRID_DEVICES,
  MIN_TOLERANCE_SECONDS,
} from "./resources/coverage.ts";
export {
  CustomProperty,
  customProperties,
  PropertyKey,
  PropertyResourceType,
  PropertyValueType,
} from "./resources/custom-properties.ts";
export { DatasetEpisodeChange, DatasetVersion, datasetVersions } from "./resources/dataset-versions.ts";
export { Dataset, DatasetEpisode, datasets } from "./resources/datasets.ts";
export { DeviceToken, deviceTokens } from "./resources/device-tokens.ts";
export { Device, DeviceName, devices, PropertyInterval } from "./resources/devices.ts";
export { AgentPoint, AgentStatus, EdgeAgent } from "./resources/edge-agents.ts";
export { EdgeFile, EdgeFileState, edgeFiles, type SalvageRequest } from "./resources/edge-files.ts";
export { Episode, episodes, MAX_EVENT_MEMBERSHIPS, MemberRecording } from "./resources/episodes.ts";
export { EventType, eventTypes } from "./resources/event-types.ts";
export { Event, events, MAX_EVENT_METADATA_CHARACTERS } from "./resources/events.ts";
export {
  DAMAGE_HEADER,
  exportLinks,
  MAX_EXPORT_RECORDINGS,
  MAX_MISSING_RECORDINGS,
  MAX_UNKNOWN_TOPICS,
  MISSING_HEADER,
  outputFormats,
} from "./resources/exports.ts";
export { Extension, extensions, MAX_EXTENSION_BYTES } from "./resources/extensions.ts";
export { importQueue, QueuedImport, WaitReason } from "./resources/import-queue.ts";
export { BulkRefusal, bulkLimits, importRequests } from "./resources/import-requests.ts";
export { ImportStatus } from "./resources/import-status.ts";
export { fileTypes, Import, imports, MAX_DELETED_IMPORTS } from "./resources/imports.ts";
export {
  type IngestPathPolicyRevision,
  type IngestPathRule,
  ingestPathPolicies,
  MAX_PATH_RULES,
  MAX_TRIED_NAMES,
  type TriedPolicy,
} from "./resources/ingest-path-policies.ts";
export { LakeFile, lakeFiles, MAX_LAKE_FILE_HOURS } from "./resources/lake-files.ts";
export { Layout, LayoutPermission, layouts } from "./resources/layouts.ts";
export {
  Invitation,
  invitations,
  Me,
  Member,
  MemberRole,
  me,
  members,
  PasswordReset,
  projectMembers,
  SignInSession,
} from "./resources/members.ts";
export { PART_UPLOAD_DAYS, PartUpload, partUploads } from "./resources/part-uploads.ts";
export { PendingImport, PendingImportStatus, pendingImports, Requester } from "./resources/pending-imports.ts";
export { Project, ProjectName, projects } from "./resources/projects.ts";
export { ImportEstimate, MAX_CUTS, RecordingCut, recordingCuts } from "./resources/recording-cuts.ts";
export { recordingFiles } from "./resources/recording-files.ts";
export {
  MAX_SELECTED_DEVICES,
  MAX_SUMMARIZED,
  MAX_SUMMARIZED_DEVICES,
  Recording,
  RecordingFilter,
  RecordingKey,
  RecordingSummary,
  RecordingTopic,
  recordings,
} from "./resources/recordings.ts";
export { MAX_SAVED_VIEWS, SavedView, savedViews } from "./resources/saved-views.ts";
export { ListedSession, Session, SessionKey, sessions } from "./resources/sessions.ts";
export {
  AcceptInvitation,
  AskDeviceCode,
  AskIdToken,
  type BearerToken,
  BegunSession,
  DecideDeviceCode,
  type DecidedDeviceCode,
  DeviceCode,
  type EndedSession,
  ExchangeIdToken,
  type IdToken,
  LookAtInvitation,
  LookAtReset,
  PasswordIsReset,
  ResetPassword,
  type SeenDeviceCode,
  SeenInvitation,
  SeenReset,
  SignIn,
  SignInWays,
} from "./resources/sign-in.ts";
export { InboxToken, inboxTokens, Site, SiteToken, SiteType, sites, siteTokens } from "./resources/sites.ts";
export { MAX_THUMBNAIL_RECORDINGS, thumbnailCounts, thumbnails } from "./resources/thumbnails.ts";
export { Topic, topics } from "./resources/topics.ts";
export { type Feature, type FeaturePart, MAX_MAPPING_TOPICS, TrainingMapping } from "./resources/training-mapping.ts";
export {
  DatasetMapping,
  datasetMappings,
  MAX_MAPPING_CHARACTERS,
  MAX_MAPPINGS,
  MAX_TRAINING_EPISODES,
  type TrainingFormat,
  TrainingSet,
  type TrainingState,
  trainingSets,
} from "./resources/training-sets.ts";
export { uploads } from "./resources/uploads.ts";
export {
  fileViewSeconds,
  MAX_FILE_VIEWS,
  MAX_VIEW_BYTES,
  MAX_VIEW_LINKS,
  MAX_VIEW_SECONDS,
  Viewer,
  ViewForm,
  ViewLink,
  viewLinks,
} from "./resources/view-links.ts";
export { webhookEvents } from "./resources/webhook-events.ts";
export {
  DELIVERY_DAYS,
  MAX_ANSWER_BYTES,
  MAX_RETRIED,
  MAX_WEBHOOKS,
  ROTATION_HOURS,
  Webhook,
  WebhookDelivery,
  type WebhookEventType,
  webhookEventTypes,
  webhooks,
} from "./resources/webhooks.ts";
export { holdsCredential } from "./shapes/credentials.ts";
export { CursorHeaders, NEXT_CURSOR_HEADER, PREVIOUS_CURSOR_HEADER } from "./shapes/cursor.ts";
export { DeletionReason } from "./shapes/deletion-reason.ts";
export { namesOf } from "./shapes/deprecate.ts";
export {
  algorithmOf,
  base64Of,
  DigestAlgorithm,
  type DigestFields,
  digestOf,
  makeDigest,
  toDigestFields,
} from "./shapes/digests.ts";
export { parseDurationMs } from "./shapes/duration.ts";
export { Email } from "./shapes/email.ts";
export { explainIssue } from "./shapes/explain-issue.ts";
export { MAX_COUNTED, MAX_LIMIT, ORDERED_CHARACTERS, type SortOrder, TOTAL_HEADER } from "./shapes/list.ts";
export { withoutNulls } from "./shapes/nulls.ts";
export type { Piece } from "./shapes/pieces.ts";
export { PropertyChanges, PropertyValue, PropertyValues } from "./shapes/properties.ts";
export { foldAliases } from "./shapes/query.ts";
export { queryLimits } from "./shapes/query-text.ts";
export { type ExportFormat, exportExtensions, exportFormats, RecordingFormat } from "./shapes/recording-formats.ts";
export { LEAST_GAP_NS } from "./shapes/spans.ts";
export { type Creator, DataDamage, MissingData, MissingReason, RecordingLocation } from "./shapes/summaries.ts";
export { isStorable, PathSegment, StorableText } from "./shapes/text.ts";
export { FIRST_TIME_NS, formatTimestamp, LAST_TIME_NS, parseTimestamp, TimeBound, Timestamp } from "./shapes/time.ts";
export { TokenMaker } from "./shapes/token-facts.ts";
export { type LakeFileReport, type SiteRequestState, site, siteLimits } from "./site/site.ts";
export { SiteFindings } from "./site/site-findings.ts";
export { siteUploads } from "./site/site-uploads.ts";
