export { type ExportOptions, exportMcap } from "./export/export-mcap.ts";
export type { ExportSelection } from "./export/plan-export.ts";
export { FileSource, type FileStat } from "./file-source.ts";
export { recordingFormatOf } from "./formats.ts";
export { type InspectOptions, inspectRecording, isFinished } from "./inspect.ts";
export { defaultLimits, type InspectLimits } from "./limits.ts";
export { type Reason, type ReasonCode, RecordingFault } from "./reasons.ts";
export { bytesSource, countReads, type RandomAccessSource, SourceChangedError } from "./source.ts";
export type {
  AttachmentSummary,
  Inspection,
  MetadataRecord,
  RecordingFormatName,
  RecordingIdentity,
  RecordingSummary,
  Salvage,
  TopicSummary,
} from "./summary.ts";
