export { cutRecording } from "./cut/cut-recording.ts";
export { sampleTopics } from "./cut/sample-topics.ts";
export { exportBag } from "./export/export-bag.ts";
export { exportMcap } from "./export/export-mcap.ts";
export type {
  BagExportOptions,
  ExportOptions,
  ExportSelection,
  ExportSource,
  McapExportOptions,
  SkippedDamage,
} from "./export/plan/export-options.ts";
export { ExportError, type ExportErrorCode } from "./export/plan/export-options.ts";
export { RewritePool } from "./export/rewrite/rewrite-pool.ts";
export { defaultLimits, type InspectLimits, leanLimits } from "./faults/limits.ts";
export { maySalvage, type Reason, type ReasonCode, RecordingError } from "./faults/reasons.ts";
export { nameWithoutCompression } from "./formats/compressed-file.ts";
export { extensionOf, nameWithoutExtension, recordingExtensions, recordingFormatOf } from "./formats/formats.ts";
export { type Indexed, type IndexOptions, indexRecording } from "./inspect/index-recording.ts";
export {
  findEnd,
  type InspectOptions,
  inspectRecording,
  inspectSummary,
  isFinished,
  isIndexedMcap,
  type RecordingEnd,
} from "./inspect/inspect.ts";
export { freeOwn } from "./memory/free-memory.ts";
export { type HoldMemory, largeMemory } from "./memory/large-memory.ts";
export { SalvageEmptyError, type SalvageOptions, salvageRecording } from "./salvage/salvage-recording.ts";
export { type DistantSource, fetchAhead } from "./sources/fetch-ahead.ts";
export { FileSource, type FileStat } from "./sources/file-source.ts";
export {
  bytesSource,
  countReads,
  type RandomAccessSource,
  SourceChangedError,
  type SourceRange,
} from "./sources/source.ts";
export type { DigestedTopic } from "./split/digest-topic.ts";
export { digestTopics } from "./split/digest-topics.ts";
export { type SplitOptions, type SplitRecording, splitRecording, type TopicFile } from "./split/split-recording.ts";
export { describeEmpty, judgeSummary, type SummaryRefusal, summaryRefusals } from "./survey/judge-summary.ts";
export type { MessageSpan } from "./survey/message-spans.ts";
export type {
  AttachmentSummary,
  Inspection,
  LeftOutCounts,
  MetadataRecord,
  RecordingDamage,
  RecordingFormatName,
  RecordingIdentity,
  RecordingSummary,
  Salvage,
  TopicSummary,
} from "./survey/summary.ts";
export { findIdentity } from "./survey/to-summary.ts";
export { INDEX_END_BYTES } from "./verified/read-index.ts";
export type { WritePiece } from "./verified/write-index.ts";
