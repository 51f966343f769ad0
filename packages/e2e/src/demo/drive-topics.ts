import type { Moment, TopicSpec } from "@downlink/recordings/testing";
import { createCamera, FRAMES } from "./camera-frames.ts";

const CAMERA_HZ = 10;
/** The robot sways as the camera shows it. */
const SWAY_SECONDS = FRAMES / CAMERA_HZ;
const LAP_SECONDS = 60;
/** Every motion has repeated after this time, so that it goes on from one recording to the next. */
const CYCLE_NS = 240_000_000_000n;
const METRES_PER_DEGREE = 111_320;
const YARD = { latitude: 52.52, longitude: 13.405, altitude: 34 };

/** The topics of a small robot that drives laps: an IMU that swings, a track of positions, a camera that sees the road, and a log. */
export function createDriveTopics(): readonly TopicSpec[] {
  const camera = createCamera();
  return [
    { topic: "/imu", kind: "imu", rateHz: 100, messageAt: measureMotion },
    { topic: "/gps", kind: "gps", rateHz: 1, messageAt: locate },
    {
      topic: "/camera/front",
      kind: "camera",
      rateHz: CAMERA_HZ,
      messageAt: (moment) => {
        const data = camera(Math.floor(secondsOf(moment) * CAMERA_HZ)).toString("base64");
        return { format: "jpeg", data };
      },
    },
    { topic: "/log", kind: "log", rateHz: 2, messageAt: report },
  ];
}

function secondsOf({ timeNs }: Moment): number {
  return Number(timeNs % CYCLE_NS) / 1e9;
}

function measureMotion(moment: Moment): object {
  const { random } = moment;
  const seconds = secondsOf(moment);
  const turn = 0.4 * Math.cos((2 * Math.PI * seconds) / SWAY_SECONDS);
  const shake = () => 0.04 * (random() - 0.5);
  return {
    angular_velocity: { x: shake(), y: shake(), z: turn + shake() },
    linear_acceleration: {
      x: 0.3 * Math.sin((2 * Math.PI * seconds) / 5) + shake(),
      y: 1.2 * turn + shake(),
      z: 9.81 + 0.2 * Math.sin(2 * Math.PI * 2 * seconds) + shake(),
    },
  };
}

/** A figure of eight, 80 m long, with the noise of a good receiver. */
function locate(moment: Moment): object {
  const angle = (2 * Math.PI * secondsOf(moment)) / LAP_SECONDS;
  const noise = () => 0.2 * (moment.random() - 0.5);
  const [east, north] = [40 * Math.sin(angle) + noise(), 20 * Math.sin(2 * angle) + noise()];
  return {
    latitude: YARD.latitude + north / METRES_PER_DEGREE,
    longitude: YARD.longitude + east / (METRES_PER_DEGREE * Math.cos((YARD.latitude * Math.PI) / 180)),
    altitude: YARD.altitude + noise(),
  };
}

const [DEBUG, INFO, WARNING, ERROR] = [1, 2, 3, 4];

type Line = readonly [level: number, name: string, message: (moment: Moment) => string];

const lines: readonly Line[] = [
  [INFO, "planner", ({ sequence }) => `waypoint ${1 + (Math.floor(sequence / 10) % 12)} of 12 reached`],
  [INFO, "power", ({ random }) => `battery at ${(25 + random()).toFixed(2)} V, ${(3 + 2 * random()).toFixed(1)} A`],
  [DEBUG, "localization", ({ random }) => `matched ${Math.floor(380 + 90 * random())} of 512 points`],
  [
    INFO,
    "planner",
    ({ random }) => `path of ${(20 + 15 * random()).toFixed(1)} m planned in ${Math.floor(9 + 9 * random())} ms`,
  ],
  [DEBUG, "drive", ({ random }) => `speed ${(1 + 0.4 * random()).toFixed(2)} m/s`],
  [WARNING, "planner", () => "a cart crosses the path: slowing down"],
  [INFO, "planner", () => "the path is free again"],
  [
    WARNING,
    "localization",
    ({ random }) => `GPS is accurate to ${(2 + random()).toFixed(1)} m only: wheels count more`,
  ],
  [ERROR, "lidar", () => "no scan for 300 ms: starting the driver again"],
  [INFO, "lidar", () => "scans are coming in"],
];

function report(moment: Moment): object {
  const [level, name, message] = lines[moment.sequence % lines.length]!;
  return { level, name, message: message(moment) };
}
