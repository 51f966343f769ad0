import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { makeBag } from "./make-bag.ts";
import { makeMcap, writeMcapFile } from "./make-mcap.ts";
import { readBagMessages } from "./read-bag-messages.ts";
import { readMessages } from "./read-messages.ts";
import { PYTHON, skipWithoutRosbag } from "./rosbag-judge.ts";
import { slowTest } from "./slow-test.ts";

const folder = await mkdtemp(join(tmpdir(), "recordings-"));
after(() => rm(folder, { recursive: true }));

test("the same specification makes the same bytes, in memory and in a file", async () => {
  const path = join(folder, "a.mcap");
  await writeMcapFile(path, { seed: 3 });
  assert.deepEqual(new Uint8Array(await readFile(path)), await makeMcap({ seed: 3 }));
  assert.notDeepEqual(await makeMcap({ seed: 4 }), await makeMcap({ seed: 3 }));
});

test("a made MCAP holds its topics at their rates", async () => {
  const messages = readMessages(await makeMcap({ durationSeconds: 3 }));
  const countOf = (name: string) => messages.filter(({ topic }) => topic === name).length;
  assert.deepEqual(["/imu", "/gps", "/camera/front", "/log"].map(countOf), [300, 3, 30, 6]);
  const image = JSON.parse(Buffer.from(messages.find(({ topic }) => topic === "/camera/front")!.data).toString());
  assert.deepEqual([...Buffer.from(image.data, "base64").subarray(0, 2)], [0xff, 0xd8]);
});

test("a made bag is read by an independent library", async () => {
  for (const compression of ["none", "lz4"] as const) {
    const messages = await readBagMessages(await makeBag({ compression, isReversed: true, chunkBytes: 4000 }));
    assert.equal(messages.length, 204);
  }
});

slowTest("a made bag is read by ROS itself", { skip: skipWithoutRosbag("sensor_msgs") }, async () => {
  for (const spec of [{}, { compression: "none" as const }, { isReversed: true, chunkBytes: 4000 }]) {
    const path = join(folder, "a.bag");
    await writeFile(path, await makeBag(spec));
    assert.equal(execFileSync(PYTHON, ["-c", COUNT_IMU, path], { encoding: "utf8" }).trim(), "200");
  }
});

const COUNT_IMU = `
import rosbag, sys
print(sum(t == '/imu' and m.header.frame_id == 'imu_link' for t, m, s in rosbag.Bag(sys.argv[1]).read_messages()))
`;
