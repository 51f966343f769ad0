import type { Moment } from "./sensors.ts";

/** Message types that a ROS 1 installation knows, so that other tools can read the bags too. */
export type Ros1Type = "std_msgs/String" | "sensor_msgs/Imu";

export interface Ros1Definition {
  readonly md5sum: string;
  readonly definition: string;
}

const IMU_FIELDS = `std_msgs/Header header
geometry_msgs/Quaternion orientation
float64[9] orientation_covariance
geometry_msgs/Vector3 angular_velocity
float64[9] angular_velocity_covariance
geometry_msgs/Vector3 linear_acceleration
float64[9] linear_acceleration_covariance`;

const separator = `\n${"=".repeat(80)}\nMSG: `;

export const ros1Definitions: Record<Ros1Type, Ros1Definition> = {
  "std_msgs/String": { md5sum: "992ce8a1687cec8c8bd883ec73ca41d1", definition: "string data\n" },
  "sensor_msgs/Imu": {
    md5sum: "6a62c6daae103f4ff57a132d6f95cec2",
    definition: [
      IMU_FIELDS,
      "std_msgs/Header\nuint32 seq\ntime stamp\nstring frame_id",
      "geometry_msgs/Quaternion\nfloat64 x\nfloat64 y\nfloat64 z\nfloat64 w",
      "geometry_msgs/Vector3\nfloat64 x\nfloat64 y\nfloat64 z\n",
    ].join(separator),
  },
};

export function makeRos1Message(type: Ros1Type, moment: Moment): Uint8Array {
  if (type === "std_msgs/String") return text(`cycle ${moment.sequence}`);
  const { timeNs, sequence, random } = moment;
  const head = Buffer.alloc(12);
  head.writeUInt32LE(sequence, 0);
  head.writeUInt32LE(Number(timeNs / 1_000_000_000n), 4);
  head.writeUInt32LE(Number(timeNs % 1_000_000_000n), 8);
  const angle = sequence / 50;
  const orientation = [0, 0, Math.sin(angle / 2), Math.cos(angle / 2)];
  const angularVelocity = [0.01 * random(), 0.01 * random(), 0.02];
  const acceleration = [0.1 * Math.cos(angle), 0.1 * random(), 9.81];
  const numbers = [...orientation, ...covariance, ...angularVelocity, ...covariance, ...acceleration, ...covariance];
  return Buffer.concat([head, text("imu_link"), Buffer.from(new Float64Array(numbers).buffer)]);
}

const covariance = [0.01, 0, 0, 0, 0.01, 0, 0, 0, 0.01];

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(bytes.byteLength);
  return Buffer.concat([length, bytes]);
}
