export { exportBag } from "./export/export-bag.ts";
export { ExportFault, type ExportFaultCode } from "./export/export-fault.ts";
export { exportMcap } from "./export/export-mcap.ts";
export type {
  BagExportOptions,
  ExportOptions,
  ExportSelection,
  ExportSource,
  McapExportOptions,
  SkippedDamage,
} from "./export/export-options.ts";
export { createRewritePool, type RewritePool } from "./export/rewrite/rewrite-pool.ts";
export { FileSource, type FileStat } from "./file-source.ts";
export { recordingFormatOf } from "./formats.ts";
export {
  findEnd,
  type InspectOptions,
  inspectRecording,
  inspectSummary,
  isFinished,
  type RecordingEnd,
} from "./inspect.ts";
export { type HoldMemory, largeMemory } from "./large-memory.ts";
export { defaultLimits, type InspectLimits, leanLimits } from "./limits.ts";
export { type Reason, type ReasonCode, RecordingFault } from "./reasons.ts";
export { SalvageEmpty, type SalvageOptions, salvageRecording } from "./salvage/salvage-recording.ts";
export { bytesSource, countReads, type RandomAccessSource, SourceChangedError } from "./source.ts";
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
} from "./summary.ts";
export { findIdentity } from "./to-summary.ts";
export { type Indexed, type IndexOptions, indexRecording } from "./verified/index-recording.ts";
export type { WritePiece } from "./verified/write-index.ts";
