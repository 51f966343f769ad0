import { randomBytes } from "node:crypto";
import { McapWriter } from "@mcap/core";
import jpeg from "jpeg-js";

const STAMP = { name: "std_msgs/Header", text: "builtin_interfaces/Time stamp\nstring frame_id\n" };
const SEPARATOR = `\n${"=".repeat(80)}\nMSG: `;
const DEPENDENCIES = `${SEPARATOR}${STAMP.name}\n${STAMP.text}${SEPARATOR}builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n`;
const JOINTS = 14;
const PICTURES = 20;

const channels = [
  { topic: "/front", hz: 30, name: "sensor_msgs/msg/CompressedImage", fields: "string format\nuint8[] data" },
  { topic: "/wrist", hz: 30, name: "sensor_msgs/msg/CompressedImage", fields: "string format\nuint8[] data" },
  { topic: "/joints", hz: 100, name: "test_msgs/msg/Joints", fields: "float64[] position" },
] as const;

let pictures: readonly Buffer[] | undefined;

/** Writes a ROS 2 recording without compression: two cameras with JPEG pictures of 640 × 480 and about 55 kB, and an arm. */
export async function makeCameraRecording(startNs: bigint, seconds: number): Promise<Buffer> {
  pictures ??= Array.from({ length: PICTURES }, makePicture);
  const pieces: Buffer[] = [];
  let position = 0;
  const write = async (bytes: Uint8Array) => {
    pieces.push(Buffer.from(bytes));
    position += bytes.byteLength;
  };
  const writer = new McapWriter({ writable: { position: () => BigInt(position), write } });
  await writer.start({ profile: "ros2", library: "downlink fixtures" });
  const ids: number[] = [];
  for (const { topic, name, fields } of channels) {
    const data = Buffer.from(`${STAMP.name} header\n${fields}${DEPENDENCIES}`);
    const schemaId = await writer.registerSchema({ name, encoding: "ros2msg", data });
    ids.push(await writer.registerChannel({ schemaId, topic, messageEncoding: "cdr", metadata: new Map() }));
  }
  const ticks = channels.flatMap(({ hz }, channel) =>
    Array.from({ length: hz * seconds }, (_, n) => ({
      channel,
      n,
      atNs: startNs + BigInt(Math.round((n * 1e9) / hz)),
    })),
  );
  for (const { channel, n, atNs } of ticks.sort((one, other) => Number(one.atNs - other.atNs))) {
    const data = channel === 2 ? jointsAt(n, atNs) : pictureAt(n, atNs);
    await writer.addMessage({ channelId: ids[channel]!, sequence: n, logTime: atNs, publishTime: atNs, data });
  }
  await writer.end();
  return Buffer.concat(pieces);
}

/** Noise makes it as large as those of a camera. */
function makePicture(): Buffer {
  const [width, height] = [640, 480];
  const noise = randomBytes(width * height);
  const data = Buffer.alloc(width * height * 4);
  for (let pixel = 0; pixel < width * height; pixel += 1)
    data.fill(((pixel % width) + (pixel >> 9) + (noise[pixel]! >> 3)) & 255, 4 * pixel, 4 * pixel + 4);
  return jpeg.encode({ width, height, data }, 75).data;
}

function pictureAt(n: number, atNs: bigint): Buffer {
  return Buffer.concat([headerAt(atNs), textOf("jpeg"), listOf(pictures![n % PICTURES]!)]);
}

function jointsAt(n: number, atNs: bigint): Buffer {
  const positions = Buffer.alloc(JOINTS * 8);
  for (let joint = 0; joint < JOINTS; joint += 1) positions.writeDoubleLE(Math.sin(n / 50 + joint), joint * 8);
  return Buffer.concat([headerAt(atNs), lengthOf(JOINTS), positions]);
}

function headerAt(atNs: bigint): Buffer {
  const stamp = Buffer.from([0, 1, 0, 0, ...new Uint8Array(8)]);
  stamp.writeInt32LE(Number(atNs / 1_000_000_000n), 4);
  stamp.writeUInt32LE(Number(atNs % 1_000_000_000n), 8);
  return Buffer.concat([stamp, textOf("link_01")]); // 20 bytes, so that numbers behind a length are aligned
}

/** The texts here have lengths after which the next one is aligned. */
function textOf(text: string): Buffer {
  const bytes = Buffer.from(`${text}\0`);
  return Buffer.concat([lengthOf(bytes.length), bytes, Buffer.alloc(-bytes.length & 3)]);
}

function listOf(bytes: Buffer): Buffer {
  return Buffer.concat([lengthOf(bytes.length), bytes]);
}

function lengthOf(length: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(length);
  return bytes;
}
