export { AgentSettings } from "./agent-settings.ts";
export { api } from "./api.ts";
export { ApiKey } from "./api-keys.ts";
export { RecordingAttachment } from "./attachments.ts";
export { type Capability, capabilities, everyCapability } from "./capabilities.ts";
export { CoverageRange, CoverageSpan, MAX_COVERAGE_RANGES, MIN_TOLERANCE_SECONDS } from "./coverage.ts";
export { CustomProperty, PropertyKey, PropertyResourceType, PropertyValueType } from "./custom-properties.ts";
export { DatasetEpisodeChange, DatasetVersion } from "./dataset-versions.ts";
export { Dataset, DatasetEpisode } from "./datasets.ts";
export { DeviceToken } from "./device-tokens.ts";
export { Device, DeviceName, PropertyInterval } from "./devices.ts";
export {
  DeletionReason,
  edgeLimits,
  incarnationHeader,
  leaseHeader,
  PermitAnswer,
  PermitRefusal,
  type Unassigned,
} from "./edge.ts";
export { AgentPoint, AgentStatus, EdgeAgent } from "./edge-agents.ts";
export {
  algorithmOf,
  base64Of,
  DigestAlgorithm,
  digestOf,
  makeDigest,
  type ToldDigest,
  tellDigest,
} from "./edge-digests.ts";
export { EdgeFile, EdgeFileState, type SalvageRequest } from "./edge-files.ts";
export {
  type DeviceReference,
  EdgeItem,
  type EdgeOtherItem,
  type EdgeRecordingItem,
  EdgeTopic,
} from "./edge-items.ts";
export type { Piece } from "./edge-pieces.ts";
export {
  DeliveryFailure,
  EdgeSettings,
  EdgeWork,
  type SalvageFailure,
  salvageRecordName,
  WantedImport,
  type WantedSalvage,
} from "./edge-work.ts";
export { Episode, MAX_EVENT_MEMBERSHIPS, MemberRecording } from "./episodes.ts";
export { ErrorBody, type ErrorCode, errorCodes } from "./errors.ts";
export { EventType } from "./event-types.ts";
export { Event, MAX_EVENT_METADATA_CHARACTERS } from "./events.ts";
export { explainIssue } from "./explain-issue.ts";
export { DAMAGE_HEADER, MAX_EXPORT_RECORDINGS, MAX_UNKNOWN_TOPICS } from "./exports.ts";
export { Extension, MAX_EXTENSION_BYTES } from "./extensions.ts";
export { QueuedImport, WaitReason } from "./import-queue.ts";
export { BulkRefusal, bulkLimits } from "./import-requests.ts";
export { Import, MAX_DELETED_IMPORTS } from "./imports.ts";
export { createJsonGuard, type JsonLimits } from "./json-guard.ts";
export { LakeFile, MAX_LAKE_FILE_HOURS } from "./lake-files.ts";
export { Layout, LayoutPermission } from "./layouts.ts";
export { toOpenApi } from "./openapi.ts";
export {
  type Access,
  type Answer,
  apiKey,
  bodyLimits,
  type CallInput,
  type Contract,
  IDEMPOTENCY_HOURS,
  type Input,
  idempotencyHeader,
  MAX_IDEMPOTENCY_KEY_CHARACTERS,
  MAX_QUERY_PARAMETERS,
  type Making,
  type Operation,
  type Output,
  pathParameters,
  type Reach,
  type WithHeaders,
} from "./operation.ts";
export { PendingImport, PendingImportStatus, Requester } from "./pending-imports.ts";
export { extensionUpload, type PlainRoute, plainRoutes } from "./plain-routes.ts";
export { Project, ProjectName } from "./projects.ts";
export {
  ImportStatus,
  MAX_SUMMARIZED,
  MAX_SUMMARIZED_DEVICES,
  Recording,
  RecordingFilter,
  RecordingKey,
  RecordingSummary,
  RecordingTopic,
} from "./recordings.ts";
export { ListedSession, Session, SessionKey } from "./sessions.ts";
export { holdsCredential } from "./shapes/credentials.ts";
export { CursorHeaders, nextCursorHeader, previousCursorHeader } from "./shapes/cursor.ts";
export { MAX_LIMIT, type SortOrder } from "./shapes/list.ts";
export { withoutNulls } from "./shapes/nulls.ts";
export { PropertyChanges, PropertyValue, PropertyValues } from "./shapes/properties.ts";
export { aliasesOf, foldAliases } from "./shapes/query.ts";
export { queryLimits } from "./shapes/query-text.ts";
export { DataDamage } from "./shapes/summaries.ts";
export { isStorable, PathSegment, StorableText } from "./shapes/text.ts";
export { formatTimestamp, parseTimestamp, Timestamp } from "./shapes/time.ts";
export { TokenMaker } from "./shapes/token-facts.ts";
export { InboxToken, Site, SiteToken, SiteType } from "./sites.ts";
export { Topic } from "./topics.ts";
