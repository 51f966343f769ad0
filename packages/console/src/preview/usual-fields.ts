import { typeOf } from "./topic-kind.ts";

/** More lines at once are no longer told apart at a glance. */
const MOST_FIELDS = 4;

const pose = ["/pose/position/x", "/pose/position/y", "/pose/position/z"];
/** The fields that one wants to see of a type, whichever package it is from. */
const usual: Readonly<Record<string, readonly string[]>> = {
  Imu: ["/linear_acceleration/x", "/linear_acceleration/y", "/linear_acceleration/z", "/angular_velocity/z"],
  Twist: ["/linear/x", "/linear/y", "/angular/z"],
  TwistStamped: ["/twist/linear/x", "/twist/linear/y", "/twist/angular/z"],
  Odometry: ["/twist/twist/linear/x", "/twist/twist/angular/z", "/pose/pose/position/x", "/pose/pose/position/y"],
  BatteryState: ["/voltage", "/percentage"],
  JointState: ["/position/0", "/position/1", "/position/2", "/position/3"],
  Pose: ["/position/x", "/position/y", "/position/z"],
  PoseStamped: pose,
  PoseInFrame: pose,
  FluidPressure: ["/fluid_pressure"],
  Temperature: ["/temperature"],
  Range: ["/range"],
};

/** Whether it is known of a schema which of its numbers one wants to see. */
export function hasUsualFields(schemaName: string): boolean {
  return Object.hasOwn(usual, typeOf(schemaName));
}

/** Chooses the fields that are drawn before any was chosen: those of the type, or else the first numbers that measure something. */
export function chooseFields(schemaName: string, fields: readonly string[]): string[] {
  const known = (hasUsualFields(schemaName) ? usual[typeOf(schemaName)]! : []).filter((field) =>
    fields.includes(field),
  );
  return (known.length > 0 ? known : fields.filter(isMeasured)).slice(0, MOST_FIELDS);
}

/** When a message was made and how sure its sender was are no measures. */
function isMeasured(field: string): boolean {
  return !/(^|\/|_)(header|seq|stamp|timestamp|time|sec|secs|nsec|nsecs|nanosec|covariance)(\/|_|$)/i.test(field);
}
