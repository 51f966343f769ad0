export { api } from "./api.ts";
export {
  DeletionReason,
  edgeLimits,
  INCARNATION_HEADER,
  LEASE_HEADER,
  PermitAnswer,
  PermitRefusal,
  type Unassigned,
} from "./edge/edge.ts";
export {
  algorithmOf,
  base64Of,
  DigestAlgorithm,
  type DigestFields,
  digestOf,
  makeDigest,
  toDigestFields,
} from "./edge/edge-digests.ts";
export {
  type DeviceReference,
  EdgeItem,
  type EdgeOtherItem,
  type EdgeRecordingItem,
  EdgeTopic,
} from "./edge/edge-items.ts";
export type { Piece } from "./edge/edge-pieces.ts";
export {
  DeliveryFailure,
  EdgeSettings,
  EdgeWork,
  SALVAGE_RECORD_NAME,
  type SalvageFailure,
  WantedImport,
  type WantedSalvage,
} from "./edge/edge-work.ts";
export { toOpenApi } from "./openapi/openapi.ts";
export { extensionUpload, type PlainRoute, plainRoutes } from "./openapi/plain-routes.ts";
export { type Capability, capabilities, EVERY_CAPABILITY } from "./operations/capabilities.ts";
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
  type Input,
  MAX_IDEMPOTENCY_KEY_CHARACTERS,
  MAX_QUERY_PARAMETERS,
  type Making,
  type Operation,
  type Output,
  pathParameters,
  type Reach,
  type WithHeaders,
} from "./operations/operation.ts";
export { AgentSettings } from "./resources/agent-settings.ts";
export { ApiKey } from "./resources/api-keys.ts";
export { RecordingAttachment } from "./resources/attachments.ts";
export { CoverageRange, CoverageSpan, MAX_COVERAGE_RANGES, MIN_TOLERANCE_SECONDS } from "./resources/coverage.ts";
export { CustomProperty, PropertyKey, PropertyResourceType, PropertyValueType } from "./resources/custom-properties.ts";
export { DatasetEpisodeChange, DatasetVersion } from "./resources/dataset-versions.ts";
export { Dataset, DatasetEpisode } from "./resources/datasets.ts";
export { DeviceToken } from "./resources/device-tokens.ts";
export { Device, DeviceName, PropertyInterval } from "./resources/devices.ts";
export { AgentPoint, AgentStatus, EdgeAgent } from "./resources/edge-agents.ts";
export { EdgeFile, EdgeFileState, type SalvageRequest } from "./resources/edge-files.ts";
export { Episode, MAX_EVENT_MEMBERSHIPS, MemberRecording } from "./resources/episodes.ts";
export { EventType } from "./resources/event-types.ts";
export { Event, MAX_EVENT_METADATA_CHARACTERS } from "./resources/events.ts";
export { DAMAGE_HEADER, MAX_EXPORT_RECORDINGS, MAX_UNKNOWN_TOPICS } from "./resources/exports.ts";
export { Extension, MAX_EXTENSION_BYTES } from "./resources/extensions.ts";
export { QueuedImport, WaitReason } from "./resources/import-queue.ts";
export { BulkRefusal, bulkLimits } from "./resources/import-requests.ts";
export { Import, MAX_DELETED_IMPORTS } from "./resources/imports.ts";
export { LakeFile, MAX_LAKE_FILE_HOURS } from "./resources/lake-files.ts";
export { Layout, LayoutPermission } from "./resources/layouts.ts";
export { PendingImport, PendingImportStatus, Requester } from "./resources/pending-imports.ts";
export { Project, ProjectName } from "./resources/projects.ts";
export {
  ImportStatus,
  MAX_SUMMARIZED,
  MAX_SUMMARIZED_DEVICES,
  Recording,
  RecordingFilter,
  RecordingKey,
  RecordingSummary,
  RecordingTopic,
} from "./resources/recordings.ts";
export { ListedSession, Session, SessionKey } from "./resources/sessions.ts";
export { InboxToken, Site, SiteToken, SiteType } from "./resources/sites.ts";
export { Topic } from "./resources/topics.ts";
export { MAX_VIEW_LINKS, MAX_VIEW_SECONDS, ViewLink } from "./resources/view-links.ts";
export { holdsCredential } from "./shapes/credentials.ts";
export { CursorHeaders, NEXT_CURSOR_HEADER, PREVIOUS_CURSOR_HEADER } from "./shapes/cursor.ts";
export { parseDurationMs } from "./shapes/duration.ts";
export { explainIssue } from "./shapes/explain-issue.ts";
export { MAX_LIMIT, type SortOrder } from "./shapes/list.ts";
export { withoutNulls } from "./shapes/nulls.ts";
export { PropertyChanges, PropertyValue, PropertyValues } from "./shapes/properties.ts";
export { aliasesOf, foldAliases } from "./shapes/query.ts";
export { queryLimits } from "./shapes/query-text.ts";
export { DataDamage } from "./shapes/summaries.ts";
export { isStorable, PathSegment, StorableText } from "./shapes/text.ts";
export { FIRST_TIME_NS, formatTimestamp, LAST_TIME_NS, parseTimestamp, Timestamp } from "./shapes/time.ts";
export { TokenMaker } from "./shapes/token-facts.ts";
