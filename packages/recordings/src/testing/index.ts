export { characterAt, LAST_CHARACTER } from "./character-at.ts";
export { jumpedSpans, makeClockJump } from "./clock-jump.ts";
export { type CorruptFile, corrupt } from "./corrupt.ts";
export { digestMessages, type TopicDigest } from "./digest-messages.ts";
export { eventually } from "./eventually.ts";
export { exportByLibrary, type LibraryExport } from "./export-by-library.ts";
export { exportBytes, exportSource, makeIndex } from "./export-bytes.ts";
export { type HostileFile, hostileFiles } from "./hostile.ts";
export { makeHugeMcap } from "./huge-mcap.ts";
export { measureTurns } from "./large/measure-turns.ts";
export { writeLargeBag } from "./large/write-large-bag.ts";
export { writeLargeFile } from "./large/write-large-file.ts";
export { type FieldExpectation, parseExpectations } from "./look-at-field-file.ts";
export { type BagSpec, type BagTopicSpec, makeBag } from "./make-bag.ts";
export { type AttachmentSpec, type McapSpec, makeMcap, writeMcapFile } from "./make-mcap.ts";
export { megabyteMs } from "./megabyte-ms.ts";
export { type OversizedFile, oversizedFiles, writeOversized } from "./oversized.ts";
export { propertyRuns } from "./property-runs.ts";
export { readBagMessages } from "./read-bag-messages.ts";
export {
  decompressHandlers,
  type ReadMessage,
  type ReadRecords,
  readIndexedMessages,
  readMessages,
  readRecords,
} from "./read-messages.ts";
export { demoTopics, type Moment, type SensorKind, seededRandom, type TopicSpec } from "./sensors.ts";
export { field2Folder, fieldFolder, listSharedFiles, skipWithout } from "./shared-data.ts";
export { firstCases, runsSlowTests, SLOW_TESTS_VARIABLE, slowTest } from "./slow-test.ts";
export { DRIVE_START_NS, type DriveSpec, writeDrive } from "./write-drive.ts";
export { type WrittenFile, writeMessages } from "./write-messages.ts";
export { makeZeroMcap, type ZeroMcap } from "./zero-mcap.ts";
