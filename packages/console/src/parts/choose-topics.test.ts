import assert from "node:assert/strict";
import { test } from "node:test";
import { filterTopics, switchTopics } from "./choose-topics.ts";

const names = ["/camera/front", "/camera/rear", "/imu"];

test("a filter finds a part of a name in any case, and everything where it is empty", () => {
  assert.deepEqual(filterTopics(names, " CAMERA "), ["/camera/front", "/camera/rear"]);
  assert.deepEqual(filterTopics(names, ""), names);
  assert.deepEqual(filterTopics(names, "gps"), []);
});

test("what a filter shows is chosen together, and the choice of the others stays", () => {
  const cameras = names.slice(0, 2);
  const none = switchTopics(undefined, { names, switched: names, isOn: false });
  assert.deepEqual(none, new Set());
  const some = switchTopics(none, { names, switched: cameras, isOn: true });
  assert.deepEqual(some, new Set(cameras));
  assert.equal(switchTopics(some, { names, switched: ["/imu"], isOn: true }), undefined, "all of them");
  assert.deepEqual(switchTopics(undefined, { names, switched: cameras, isOn: false }), new Set(["/imu"]));
});
