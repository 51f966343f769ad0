import assert from "node:assert/strict";
import { test } from "node:test";
import { chooseViews } from "./choose-views.ts";

const topic = (name: string, schemaName: string, messageCount = 10) => ({ topic: name, schemaName, messageCount });

test("a recording opens on a camera, a plot, a log and a track, in whichever order its topics are", () => {
  const topics = [
    topic("/tf", "tf2_msgs/msg/TFMessage"),
    topic("/points", "sensor_msgs/msg/PointCloud2"),
    topic("/fix", "sensor_msgs/msg/NavSatFix"),
    topic("/rosout", "rcl_interfaces/msg/Log"),
    topic("/battery/text", "std_msgs/msg/String"),
    topic("/gain", "a/msg/Gain"),
    topic("/camera/raw", "sensor_msgs/msg/Image"),
    topic("/imu", "sensor_msgs/msg/Imu"),
    topic("/camera", "sensor_msgs/msg/CompressedImage"),
  ];
  const expected = ["/camera", "/imu", "/rosout", "/fix"];
  assert.deepEqual(chooseViews(topics), expected);
  assert.deepEqual(chooseViews(topics.toReversed()), expected);
});

test("the places of kinds that a recording lacks are filled with what it has, trees last", () => {
  const topics = [
    topic("/tf", "tf/tfMessage"),
    topic("/a", "a.Sample"),
    topic("/right", "foxglove.CompressedImage"),
    topic("/left", "foxglove.CompressedImage"),
  ];
  assert.deepEqual(chooseViews(topics), ["/right", "/a", "/left", "/tf"]);
  assert.deepEqual(chooseViews([topic("/tf", "tf/tfMessage")]), ["/tf"]);
});

test("a topic without messages is not chosen, and one with two schemas is chosen once", () => {
  assert.deepEqual(chooseViews([topic("/a", "a/A", 0), topic("/b", "a/B"), topic("/b", "a/C")]), ["/b"]);
  assert.deepEqual(chooseViews([]), []);
});
