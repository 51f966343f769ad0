export { api } from "./api.ts";
export { ApiKey } from "./api-keys.ts";
export { type Capability, capabilities, everyCapability } from "./capabilities.ts";
export { CoverageRange, MIN_TOLERANCE_SECONDS } from "./coverage.ts";
export { CustomProperty, PropertyKey, PropertyResourceType, PropertyValueType } from "./custom-properties.ts";
export { DeviceToken } from "./device-tokens.ts";
export { Device, DeviceName, PropertyInterval } from "./devices.ts";
export {
  DeliveryFailure,
  EdgeItem,
  type EdgeOtherItem,
  type EdgeRecordingItem,
  EdgeSettings,
  EdgeTopic,
  EdgeWork,
  edgeLimits,
  leaseHeader,
  WantedImport,
} from "./edge.ts";
export { EdgeFile, EdgeFileState } from "./edge-files.ts";
export { ErrorBody, type ErrorCode, errorCodes } from "./errors.ts";
export { EventType } from "./event-types.ts";
export { Event, MAX_EVENT_METADATA_CHARACTERS } from "./events.ts";
export { Extension, MAX_EXTENSION_BYTES } from "./extensions.ts";
export { Layout, LayoutPermission } from "./layouts.ts";
export { toOpenApi } from "./openapi.ts";
export {
  type Access,
  type CallInput,
  type Contract,
  type Input,
  type Operation,
  type Output,
  pathParameters,
} from "./operation.ts";
export { PendingImport, PendingImportStatus } from "./pending-imports.ts";
export { Project, ProjectName } from "./projects.ts";
export { ImportStatus, Recording } from "./recordings.ts";
export { ListedSession, Session, SessionKey } from "./sessions.ts";
export { MAX_LIMIT, type SortOrder } from "./shapes/list.ts";
export { PropertyChanges, PropertyValue, PropertyValues } from "./shapes/properties.ts";
export { aliasesOf, foldAliases } from "./shapes/query.ts";
export { formatTimestamp, parseTimestamp, Timestamp } from "./shapes/time.ts";
export { InboxToken, Site, SiteToken, SiteType } from "./sites.ts";
export { Topic } from "./topics.ts";
