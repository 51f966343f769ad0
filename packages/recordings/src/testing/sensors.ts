/** A topic that records at a rate. */
export interface TopicSpec {
  readonly topic: string;
  readonly kind: SensorKind;
  readonly rateHz: number;
  /** The size of the payload: the JPEG of a camera, the bytes of a blob. Others have their own size. */
  readonly sizeBytes?: number;
  /** Returns what stands in a message beside its time, instead of what its kind has by default. */
  readonly messageAt?: (moment: Moment) => object;
}

/** JSON messages with a JSON schema, except `blob`, which is bytes without a schema. */
export type SensorKind = "imu" | "gps" | "camera" | "log" | "blob";

export const demoTopics: readonly TopicSpec[] = [
  { topic: "/imu", kind: "imu", rateHz: 100 },
  { topic: "/gps", kind: "gps", rateHz: 1 },
  { topic: "/camera/front", kind: "camera", rateHz: 10, sizeBytes: 12_000 },
  { topic: "/log", kind: "log", rateHz: 2 },
];

export interface Moment {
  readonly timeNs: bigint;
  /** Counts the messages of the topic from 0. */
  readonly sequence: number;
  readonly random: () => number;
}

export function makePayload(spec: TopicSpec, moment: Moment): Uint8Array {
  if (spec.kind === "blob") return randomBytes(spec.sizeBytes ?? 100, moment.random);
  return Buffer.from(JSON.stringify(jsonOf(spec, moment)));
}

export function schemaOf(kind: SensorKind): { name: string; encoding: string; data: Uint8Array } | undefined {
  if (kind === "blob") return undefined;
  const schema = { type: "object", title: schemaNames[kind], properties: properties[kind] };
  return { name: schemaNames[kind], encoding: "jsonschema", data: Buffer.from(JSON.stringify(schema)) };
}

const schemaNames = {
  imu: "sensor.Imu",
  gps: "foxglove.LocationFix",
  camera: "foxglove.CompressedImage",
  log: "foxglove.Log",
};

const time = { type: "object", properties: { sec: { type: "integer" }, nsec: { type: "integer" } } };
const vector = { type: "object", properties: { x: { type: "number" }, y: { type: "number" }, z: { type: "number" } } };
const properties = {
  imu: { timestamp: time, angular_velocity: vector, linear_acceleration: vector },
  gps: { timestamp: time, latitude: { type: "number" }, longitude: { type: "number" }, altitude: { type: "number" } },
  camera: { timestamp: time, format: { type: "string" }, data: { type: "string", contentEncoding: "base64" } },
  log: { timestamp: time, level: { type: "integer" }, name: { type: "string" }, message: { type: "string" } },
};

function jsonOf({ kind, sizeBytes = 8_000, messageAt }: TopicSpec, moment: Moment): object {
  const { timeNs, sequence, random } = moment;
  const timestamp = { sec: Number(timeNs / 1_000_000_000n), nsec: Number(timeNs % 1_000_000_000n) };
  if (messageAt !== undefined) return { timestamp, ...messageAt(moment) };
  const angle = sequence / 50;
  if (kind === "imu") {
    const angular_velocity = { x: 0.01 * random(), y: 0.01 * random(), z: 0.3 * Math.sin(angle) };
    const linear_acceleration = { x: 0.1 * Math.cos(angle), y: 0.1 * random(), z: 9.81 + 0.02 * random() };
    return { timestamp, angular_velocity, linear_acceleration };
  }
  if (kind === "gps") {
    return {
      timestamp,
      latitude: 52.52 + sequence * 1e-5,
      longitude: 13.405 + random() * 1e-5,
      altitude: 34 + random(),
    };
  }
  if (kind === "log") {
    const message = `battery at ${(24 + random()).toFixed(2)} V, cycle ${sequence}`;
    return { timestamp, level: 2, name: "power", message };
  }
  return { timestamp, format: "jpeg", data: jpegLike(sizeBytes, random).toString("base64") };
}

/** Makes bytes that begin and end like a JPEG and do not compress. */
function jpegLike(sizeBytes: number, random: () => number): Buffer {
  const body = randomBytes(Math.max(sizeBytes, 8), random);
  body.set([0xff, 0xd8, 0xff, 0xe0]);
  body.set([0xff, 0xd9], body.byteLength - 2);
  return body;
}

function randomBytes(lengthBytes: number, random: () => number): Buffer {
  const words = new Uint32Array(Math.ceil(lengthBytes / 4));
  for (let at = 0; at < words.length; at += 1) words[at] = random() * 2 ** 32;
  return Buffer.from(words.buffer, 0, lengthBytes);
}

/** The same seed gives the same numbers, everywhere (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
