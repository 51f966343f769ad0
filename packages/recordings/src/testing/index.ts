export { type CorruptFile, corrupt } from "./corrupt.ts";
export { type BagSpec, type BagTopicSpec, makeBag } from "./make-bag.ts";
export { type AttachmentSpec, type McapSpec, makeMcap, writeMcapFile } from "./make-mcap.ts";
export { type ReadMessage, type ReadRecords, readIndexedMessages, readMessages, readRecords } from "./read-messages.ts";
export { demoTopics, type SensorKind, type TopicSpec } from "./sensors.ts";
