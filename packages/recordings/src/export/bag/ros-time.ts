import { RecordingFault } from "../../faults/reasons.ts";

/** spec: ROS bag format 2.0: both are unsigned and 32 bits wide. */
export interface RosTime {
  seconds: number;
  nanoseconds: number;
}

/** Faults with `InvalidTime` outside of the years 1970 to 2106. */
export function toRosTime(timeNs: bigint): RosTime {
  const seconds = timeNs / nsPerSecond;
  if (timeNs >= 0n && seconds <= maxSeconds) {
    return { seconds: Number(seconds), nanoseconds: Number(timeNs % nsPerSecond) };
  }
  const text = `a message has the time ${timeNs} ns; a ROS 1 bag holds times from 1970 to 2106. Export it as MCAP`;
  throw new RecordingFault("InvalidTime", text);
}

const nsPerSecond = 1_000_000_000n;
const maxSeconds = 2n ** 32n - 1n;
