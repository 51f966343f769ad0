import { randomFillSync } from "node:crypto";
import { open } from "node:fs/promises";
import { McapWriter } from "@mcap/core";
import { compressWith } from "./make-mcap.ts";
import { ticksOf } from "./timeline.ts";

export interface DriveSpec {
  readonly kind: "sensors" | "small";
  readonly compression: "" | "lz4" | "zstd";
  /** Scales the time: 1 is a gigabyte in 60 s, or 2,000,000 small messages. */
  readonly scale: number;
}

export const DRIVE_START_NS = 1_767_323_045_000_000_000n;

/**
 * A drive with IMU, images and point clouds, or ten topics of nothing but small messages; written by an independent library.
 * A drive's `/events` record in two of every six seconds only, and so stand in a third of the chunks.
 */
export async function writeDrive(path: string, { kind, compression, scale }: DriveSpec): Promise<void> {
  await using file = await open(path, "w");
  let position = 0n;
  const writable = {
    position: () => position,
    async write(bytes: Uint8Array) {
      position += BigInt(bytes.byteLength);
      await file.writeFile(bytes);
    },
  };
  const writer = new McapWriter({
    writable,
    compressChunk: compression === "" ? undefined : compressWith(compression),
  });
  await writer.start({ profile: "", library: "downlink fixtures" });
  const topics = kind === "small" ? smallTopics() : driveTopics();
  const channelIds: number[] = [];
  for (const { topic } of topics) {
    const schemaId = await writer.registerSchema({ name: topic, encoding: "jsonschema", data: Buffer.from("{}") });
    channelIds.push(await writer.registerChannel({ schemaId, topic, messageEncoding: "json", metadata: new Map() }));
  }
  const rates = topics.map(({ rateHz }) => rateHz);
  for (const { topicIndex, sequence, timeNs } of ticksOf({
    rates,
    startNs: DRIVE_START_NS,
    durationSeconds: 60 * scale,
  })) {
    const { payload, isSilent } = topics[topicIndex]!;
    if (isSilent?.(timeNs - DRIVE_START_NS)) continue;
    const data = payload(sequence);
    await writer.addMessage({
      channelId: channelIds[topicIndex]!,
      sequence,
      logTime: timeNs,
      publishTime: timeNs,
      data,
    });
  }
  await writer.end();
}

interface DriveTopic {
  readonly topic: string;
  readonly rateHz: number;
  payload(sequence: number): Uint8Array;
  /** Absent if it is never silent. */
  readonly isSilent?: (sinceStartNs: bigint) => boolean;
}

const SECOND_NS = 1_000_000_000n;

function driveTopics(): DriveTopic[] {
  const images = Array.from({ length: 8 }, () => randomFillSync(new Uint8Array(200_000)));
  const clouds = Array.from({ length: 4 }, (_, index) => makeCloud(1_000_000, index));
  const json = (topic: string, rateHz: number): DriveTopic => ({ topic, rateHz, payload: (n) => makeState(topic, n) });
  return [
    { topic: "/camera", rateHz: 30, payload: (sequence) => images[sequence % images.length]! },
    { topic: "/cloud", rateHz: 10, payload: (sequence) => clouds[sequence % clouds.length]! },
    json("/imu", 100),
    json("/odom", 50),
    json("/tf", 100),
    json("/joints", 50),
    json("/gps", 1),
    json("/log", 2),
    json("/battery", 1),
    json("/diagnostics", 1),
    { ...json("/events", 20), isSilent: (sinceStartNs) => (sinceStartNs / SECOND_NS) % 6n >= 2n },
  ];
}

/** 2,000,000 in 60 s. */
function smallTopics(): DriveTopic[] {
  return Array.from({ length: 10 }, (_, index) => {
    const topic = `/small/${index}`;
    return { topic, rateHz: 100_000 / 30, payload: (sequence: number) => makeState(topic, sequence).subarray(0, 40) };
  });
}

/** Points on a rough surface: compresses to about two thirds, as clouds do. */
function makeCloud(sizeBytes: number, seed: number): Uint8Array {
  const values = new Float32Array(sizeBytes / 4);
  for (let at = 0; at < values.length; at += 4) {
    const angle = at / 2000 + seed;
    values.set([10 * Math.cos(angle), 10 * Math.sin(angle), Math.fround(Math.random() / 10), at % 256], at);
  }
  return new Uint8Array(values.buffer);
}

function makeState(topic: string, sequence: number): Uint8Array {
  const angle = sequence / 50;
  return Buffer.from(
    `{"x":${Math.cos(angle)},"y":${Math.sin(angle)},"sequence":${sequence},"frame":"${topic}","covariance":[0.01,0,0,0,0.01]}`,
  );
}
