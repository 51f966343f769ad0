import assert from "node:assert/strict";
import { test } from "node:test";
import { makeMcap, readMessages } from "@downlink/recordings/testing";
import jpeg from "jpeg-js";
import { createDriveTopics } from "./drive-topics.ts";

const bytes = await makeMcap({ topics: createDriveTopics(), durationSeconds: 5 });
const messages = (await readMessages(bytes)).map(({ topic, data }) => ({
  topic,
  message: JSON.parse(Buffer.from(data).toString()),
}));
const of = (wanted: string) => messages.filter(({ topic }) => topic === wanted).map(({ message }) => message);

test("the camera's messages are pictures that a decoder reads, and the next one is another", () => {
  const [first, second] = of("/camera/front")
    .slice(0, 2)
    .map(({ data }) => jpeg.decode(Buffer.from(data, "base64")));
  assert.deepEqual([first!.width, first!.height], [320, 240]);
  assert.notDeepEqual(first!.data, second!.data);
});

test("the positions are a track: each is some metres from the one before", () => {
  const track = of("/gps") as { latitude: number; longitude: number }[];
  for (const [at, { latitude, longitude }] of track.slice(1).entries()) {
    const before = track[at]!;
    const metres = Math.hypot((latitude - before.latitude) * 111_320, (longitude - before.longitude) * 67_740);
    assert.ok(metres > 0.5 && metres < 8, `${metres} m`);
  }
});

test("the IMU swings to both sides within a sway, and feels its weight", () => {
  const turns = of("/imu").map(({ angular_velocity }) => angular_velocity.z as number);
  assert.ok(Math.min(...turns) < -0.2 && Math.max(...turns) > 0.2, `${Math.min(...turns)} to ${Math.max(...turns)}`);
  for (const { linear_acceleration } of of("/imu")) assert.ok(Math.abs(linear_acceleration.z - 9.81) < 0.5);
});

test("the log has lines of several levels and names", () => {
  const log = of("/log");
  assert.deepEqual([...new Set(log.map(({ level }) => level))].sort(), [1, 2, 3, 4]);
  assert.ok(new Set(log.map(({ name }) => name)).size >= 4);
});
