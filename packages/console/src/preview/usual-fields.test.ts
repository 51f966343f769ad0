import assert from "node:assert/strict";
import { test } from "node:test";
import { chooseFields } from "./usual-fields.ts";

test("a known type draws what one wants to see of it", () => {
  const axes = ["x", "y", "z"].map((axis) => `/linear_acceleration/${axis}`);
  const fields = ["/header/seq", "/orientation/x", "/angular_velocity/z", ...axes];
  for (const name of ["sensor_msgs/msg/Imu", "sensor_msgs/Imu", "sensor.Imu"])
    assert.deepEqual(chooseFields(name, fields), [...axes, "/angular_velocity/z"]);
  const joints = Array.from({ length: 7 }, (_, index) => `/position/${index}`);
  assert.deepEqual(chooseFields("sensor_msgs/JointState", joints), joints.slice(0, 4));
});

test("another type draws its first numbers that are neither times nor covariances", () => {
  const fields = [
    ...["/header/stamp/sec", "/seq", "/timestamp/nsec", "/position_covariance/0", "/speed", "/time_since_start"],
    ...["/seconds", "/a", "/b", "/c"],
  ];
  assert.deepEqual(chooseFields("a/Sample", fields), ["/speed", "/seconds", "/a", "/b"]);
  assert.deepEqual(chooseFields("a/Sample", ["/header/seq"]), []);
});

test("a known type whose messages have other fields draws those", () => {
  assert.deepEqual(chooseFields("my/Imu", ["/accel"]), ["/accel"]);
});
