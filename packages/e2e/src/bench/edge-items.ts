import { createHash } from "node:crypto";
import { formatTimestamp } from "@downlink/protocol";

const START_NS = 1_767_225_600_000_000_000n; // 2026-01-01
const SECOND_NS = 1_000_000_000n;
const EVERY_NS = 60n * SECOND_NS;
/** The number of robots with different topics; a file's number decides which robot's it has. */
const VARIETY = 40;
const ATTACHMENT_EVERY = 20;
const topics = ["/camera/front/compressed", "/imu/data", "/odom", "/scan", "/tf"];

/** One file of an agent in the form of its report, as JSON: 5 topics, 1 metadata record, every 20th with an attachment. */
export interface SaidFile {
  readonly number: number;
  readonly versionId: string;
  readonly path: string;
}

const tails = Array.from({ length: VARIETY }, (_, variant) => tailOf(variant));

export function itemText({ number, versionId, path }: SaidFile): string {
  const startNs = START_NS + BigInt(number) * EVERY_NS;
  const own = {
    versionId,
    path,
    modifiedAt: formatTimestamp(startNs + EVERY_NS),
    headTailSha256: number.toString(16).padStart(64, "0"),
    start: formatTimestamp(startNs),
    end: formatTimestamp(startNs + EVERY_NS - 123_456_789n),
    attachments: number % ATTACHMENT_EVERY === 0 ? [attachment] : [],
  };
  return `${JSON.stringify(own).slice(0, -1)},${tails[number % VARIETY]}`;
}

const attachment = {
  name: "calibration.yaml",
  mediaType: "application/yaml",
  logTime: formatTimestamp(START_NS),
  createTime: formatTimestamp(START_NS),
  crc: 1234567,
  dataOffset: 4096,
  size: 2048,
};

/** Returns the fields that are the same in each file, without the opening brace. */
function tailOf(variant: number): string {
  const item = {
    state: "indexed",
    format: "mcap",
    size: 123_456_789,
    messageCount: 60_000,
    metadata: [{ name: "run", metadata: { operator: `operator-${variant}`, site: "Köln", software: "2.4.1" } }],
    topics: topics.map((topic) => topicOf(topic, variant)),
  };
  return JSON.stringify(item).slice(1);
}

function topicOf(topic: string, variant: number) {
  const schemaSha256 = createHash("sha256").update(`${topic} ${variant}`).digest("hex");
  return {
    topic,
    version: schemaSha256.slice(0, 16),
    encoding: "cdr",
    schemaName: `robot_msgs/msg/${topic.split("/").at(-1)}`,
    schemaEncoding: "ros2msg",
    schemaSha256,
    messageCount: 12_000,
    start: formatTimestamp(START_NS + BigInt(variant) * SECOND_NS + 1n),
    end: formatTimestamp(START_NS + BigInt(variant) * SECOND_NS + 2n),
  };
}
