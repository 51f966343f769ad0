import { McapWriter } from "@mcap/core";
import { makePng } from "./picture.ts";

const START_NS = 1_760_000_000_000_000_000n;
const MS_NS = 1_000_000n;

interface Sensor {
  readonly topic: string;
  readonly messageEncoding: string;
  readonly schema: { readonly name: string; readonly encoding: string; readonly data: Uint8Array };
  readonly everyMs: number;
  /** Nothing where the sensor is silent. */
  encode(index: number): Uint8Array | undefined;
}

/** The seconds in which `/ros2/motion` is silent. */
export const SILENCE = { fromMs: 5000, toMs: 12_000 };
export const PICTURE = { width: 64, height: 48, color: [200, 30, 60] } as const;

export const RAW = { width: 30, height: 20, encoding: "mono8", step: 32, grey: 77 } as const;

/** Thirty seconds of a robot that records ROS 2, protobuf and JSON, a camera, a receiver of positions and a log. */
export async function makeSensorRecording(): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let sizeBytes = 0;
  const write = async (bytes: Uint8Array) => {
    pieces.push(Buffer.from(bytes));
    sizeBytes += bytes.byteLength;
  };
  const writer = new McapWriter({ writable: { position: () => BigInt(sizeBytes), write } });
  await writer.start({ profile: "", library: "downlink fixtures" });
  const channels = await Promise.all(sensors.map((sensor) => addChannel(writer, sensor)));
  for (let ms = 0; ms < 30_000; ms += 10)
    for (const [place, { everyMs, encode }] of sensors.entries()) {
      const data = ms % everyMs === 0 ? encode(ms / everyMs) : undefined;
      const logTime = START_NS + BigInt(ms) * MS_NS;
      if (data)
        await writer.addMessage({ channelId: channels[place]!, sequence: 0, logTime, publishTime: logTime, data });
    }
  await writer.addMetadata({ name: "run", metadata: new Map([["operator", "ann"]]) });
  const note = { name: "notes.txt", mediaType: "text/plain", data: Buffer.from("all fine") };
  await writer.addAttachment({ ...note, logTime: START_NS, createTime: START_NS });
  await writer.end();
  return Buffer.concat(pieces);
}

async function addChannel(writer: McapWriter, { topic, messageEncoding, schema }: Sensor): Promise<number> {
  const schemaId = await writer.registerSchema(schema);
  return writer.registerChannel({ schemaId, topic, messageEncoding, metadata: new Map() });
}

const picture = makePng(PICTURE);

const sensors: readonly Sensor[] = [
  {
    topic: "/ros2/motion",
    messageEncoding: "cdr",
    schema: { name: "a/msg/Motion", encoding: "ros2msg", data: Buffer.from("float64 x\nfloat64 y\n") },
    everyMs: 10,
    encode(index) {
      const ms = index * 10;
      if (ms > SILENCE.fromMs && ms < SILENCE.toMs) return undefined;
      const numbers = Float64Array.of(Math.sin(index / 100), index / 1000);
      return Buffer.concat([Buffer.of(0, 1, 0, 0), Buffer.from(numbers.buffer)]);
    },
  },
  {
    topic: "/ros2/camera",
    messageEncoding: "cdr",
    schema: {
      name: "sensor_msgs/msg/CompressedImage",
      encoding: "ros2msg",
      data: Buffer.from("string format\nuint8[] data\n"),
    },
    everyMs: 200,
    // A text of four bytes with its end, so that nothing has to be aligned.
    encode: () =>
      Buffer.concat([Buffer.of(0, 1, 0, 0), count(4), Buffer.from("png\0"), count(picture.byteLength), picture]),
  },
  {
    topic: "/protobuf/speed",
    messageEncoding: "protobuf",
    schema: { name: "a.Speed", encoding: "protobuf", data: speedDescriptors() },
    everyMs: 100,
    encode: (index) => Buffer.concat([Buffer.of(0x09), Buffer.from(Float64Array.of(index % 20).buffer)]),
  },
  {
    topic: "/json/fix",
    messageEncoding: "json",
    schema: { name: "foxglove.LocationFix", encoding: "jsonschema", data: Buffer.from('{"type":"object"}') },
    everyMs: 1000,
    encode: (index) =>
      Buffer.from(JSON.stringify({ latitude: 48.1 + index / 10_000, longitude: 11.5 + index ** 2 / 1e6 })),
  },
  {
    topic: "/json/raw",
    messageEncoding: "json",
    schema: { name: "foxglove.RawImage", encoding: "jsonschema", data: Buffer.from('{"type":"object"}') },
    everyMs: 1000,
    encode: () =>
      Buffer.from(JSON.stringify({ ...RAW, data: Buffer.alloc(RAW.height * RAW.step, RAW.grey).toString("base64") })),
  },
  {
    topic: "/json/diagnostics",
    messageEncoding: "json",
    schema: { name: "diagnostic_msgs/DiagnosticArray", encoding: "jsonschema", data: Buffer.from('{"type":"object"}') },
    everyMs: 1000,
    encode: (index) =>
      Buffer.from(JSON.stringify({ status: [{ name: "motor", level: index % 4, message: `${index} rounds` }] })),
  },
  {
    topic: "/json/log",
    messageEncoding: "json",
    schema: { name: "foxglove.Log", encoding: "jsonschema", data: Buffer.from('{"type":"object"}') },
    everyMs: 500,
    encode: (index) =>
      Buffer.from(JSON.stringify({ level: 1 + (index % 4), name: "planner", message: `waypoint ${index} reached` })),
  },
];

function count(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

/** A FileDescriptorSet of `package a; message Speed { double metres_per_second = 1; }`. source: descriptor.proto */
function speedDescriptors(): Buffer {
  const field = [part(1, "metres_per_second"), Buffer.of(0x18, 1, 0x20, 1, 0x28, 1)];
  const message = part(4, Buffer.concat([part(1, "Speed"), part(2, Buffer.concat(field))]));
  const file = Buffer.concat([part(1, "a.proto"), part(2, "a"), message, part(12, "proto3")]);
  return part(1, file);
}

/** A field of protobuf that has a length of one byte. */
function part(number: number, data: string | Buffer): Buffer {
  const bytes = Buffer.from(data as string);
  return Buffer.concat([Buffer.of((number << 3) | 2, bytes.byteLength), bytes]);
}
