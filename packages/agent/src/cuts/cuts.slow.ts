import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { EdgeRecordingItem, WantedCut } from "@downlink/protocol";
import { eventually, makeMcap, readIndexedMessages } from "@downlink/recordings/testing";
import { CUT_DIRECTORY } from "../files/made-path.ts";
import { FakeCloud } from "../testing/fake-cloud.ts";
import { mountSmall } from "../testing/mount-small.ts";
import { writeRecording } from "../testing/recordings.ts";
import { type Device, makeDevice, settingsFor, startDaemon } from "../testing/run-daemon.ts";

const PATH = "runs/a.mcap";

/** Makes a recording on a device with an agent; `mount` puts a file system under its root. */
async function startWithRecording(
  mount: (device: Device) => Disposable | undefined = () => undefined,
  flags: Parameters<typeof settingsFor>[2] = {},
) {
  const cloud = await FakeCloud.start();
  const device = makeDevice();
  const disk = mount(device);
  mkdirSync(join(device.root, "runs"), { recursive: true });
  const bytes = await makeMcap({ chunkBytes: 20_000, metadata: [{ name: "downlink", metadata: { key: "k-1" } }] });
  writeFileSync(join(device.root, PATH), bytes);
  cloud.cuts = [];
  const settings = settingsFor(device, cloud, flags);
  const daemon = startDaemon(settings);
  await cloud.until("the file is known", () => cloud.at(PATH)?.state === "indexed");
  return {
    ...{ cloud, device, disk, settings, daemon, bytes },
    async [Symbol.asyncDispose]() {
      await daemon[Symbol.asyncDispose]();
      await cloud[Symbol.asyncDispose]();
      disk?.[Symbol.dispose]();
      device[Symbol.dispose]();
    },
  };
}

type Scene = Awaited<ReturnType<typeof startWithRecording>>;

/** Asks for half a second of one topic. */
function ask({ cloud }: Scene, more: Partial<WantedCut> = {}): WantedCut {
  const whole = cloud.at(PATH) as EdgeRecordingItem;
  const [start, end] = [whole.start + 500_000_000n, whole.start + 1_000_000_000n];
  const part = { topics: ["/imu"], start, end, isMade: false };
  const wanted = { requestId: "cut_1", versionId: whole.versionId, ...part, ...more };
  cloud.cuts = [wanted];
  cloud.changed();
  return wanted;
}

function cutIn({ cloud }: Scene): EdgeRecordingItem | undefined {
  const found = [...cloud.files.values()].find((file) => file.path.startsWith(CUT_DIRECTORY));
  return found?.state === "indexed" ? found : undefined;
}

const folderOf = ({ device }: Scene) => join(device.root, CUT_DIRECTORY);
const names = (scene: Scene) => (existsSync(folderOf(scene)) ? readdirSync(folderOf(scene)) : []);

test("a part that is wanted becomes a recording with the messages of that part, which says of which file and request it is", async () => {
  await using scene = await startWithRecording();
  const wanted = ask(scene);
  await scene.cloud.until("the cut is reported", () => cutIn(scene) !== undefined);
  const cut = cutIn(scene)!;
  assert.equal(cut.path, `${CUT_DIRECTORY}/cut_1/a.mcap`);
  assert.equal(cut.key, undefined, "the key stays with the whole");
  const record = cut.metadata.at(-1)!;
  const { size, modifiedAt } = scene.cloud.at(PATH)!;
  const facts = { requestId: "cut_1", versionId: wanted.versionId, path: PATH, sizeBytes: `${size}` };
  assert.deepEqual({ ...record.metadata, ...facts, modifiedAtNs: `${modifiedAt}` }, record.metadata);
  const messages = await readIndexedMessages(readFileSync(join(scene.device.root, cut.path)));
  const expected = (await readIndexedMessages(scene.bytes)).filter(
    ({ topic, logTimeNs }) => topic === "/imu" && logTimeNs >= wanted.start && logTimeNs <= wanted.end,
  );
  assert.deepEqual(
    messages.map(({ topic, logTimeNs }) => [topic, logTimeNs]),
    expected.map(({ topic, logTimeNs }) => [topic, logTimeNs]),
  );
});

test("a cut is kept as long as it is wanted, also over a restart, and is removed then; nothing else is", async () => {
  await using scene = await startWithRecording();
  const { cloud, daemon, settings, device } = scene;
  const wanted = ask(scene);
  await cloud.until("the cut is reported", () => cutIn(scene) !== undefined);
  cloud.cuts = [{ ...wanted, isMade: true }];
  cloud.changed();
  await daemon.stop();
  writeFileSync(join(device.root, `${cutIn(scene)!.path}.partial`), "half of one");
  mkdirSync(join(folderOf(scene), "killed"));
  writeFileSync(join(folderOf(scene), "killed/a.mcap.partial"), "half of another");
  mkdirSync(join(folderOf(scene), "of-a-user"));
  writeFileSync(join(folderOf(scene), "of-a-user/notes.txt"), "mine");
  await using again = startDaemon(settings);
  await again.until("what a crash left is gone", () => !names(scene).includes("killed"));
  assert.deepEqual(names(scene).sort(), ["cut_1", "of-a-user"]);
  cloud.cuts = [];
  cloud.changed();
  await again.until("the cut is gone", () => !names(scene).includes("cut_1"));
  await cloud.until("the cloud knows", () => cutIn(scene) === undefined);
  assert.deepEqual(names(scene), ["of-a-user"]);
  assert.ok(existsSync(join(device.root, PATH)));
});

test("a cut that was not imported stays where the whole file is gone, although nobody wants it any more", async () => {
  await using scene = await startWithRecording();
  const { cloud, device, daemon } = scene;
  ask(scene);
  await cloud.until("the cut is reported", () => cutIn(scene) !== undefined);
  rmSync(join(device.root, PATH));
  await cloud.until("the whole is gone", () => cloud.at(PATH) === undefined);
  cloud.cuts = [];
  cloud.changed();
  const { lastScanAt } = (await daemon.until("it has scanned", ({ storage }) => storage.lastScanAt !== null)).storage;
  await daemon.until("it has scanned again", ({ storage }) => storage.lastScanAt !== lastScanAt);
  assert.deepEqual(names(scene), ["cut_1"]);
});

test("a cut of nothing and one of a file that is gone are given up with the reason, and leave no file", async () => {
  await using scene = await startWithRecording();
  const { cloud } = scene;
  ask(scene, { topics: ["/nothing"] });
  await cloud.until("it is given up", () => cloud.failures.length === 1);
  ask(scene, { requestId: "cut_2", versionId: "never-heard-of-it" });
  await cloud.until("that one too", () => cloud.failures.length === 2);
  ask(scene, { requestId: "../../etc" });
  await cloud.until("and a hostile one", () => cloud.failures.length === 3);
  assert.deepEqual(
    cloud.failures.map(({ code }) => code),
    ["EmptyCut", "FileGone", "FileUnreadable"],
  );
  assert.equal(cutIn(scene), undefined);
});

test("two parts of one file that are asked for at once are both made", async () => {
  await using scene = await startWithRecording();
  const first = ask(scene);
  const second = { ...first, requestId: "cut_2", topics: ["/gps"] };
  scene.cloud.cuts = [first, second];
  scene.cloud.changed();
  const cuts = () => [...scene.cloud.files.values()].filter(({ path }) => path.startsWith(CUT_DIRECTORY));
  await scene.cloud.until("both are reported", () => cuts().filter(({ state }) => state === "indexed").length === 2);
  for (const { path } of cuts()) {
    const topics = new Set(
      (await readIndexedMessages(readFileSync(join(scene.device.root, path)))).map(({ topic }) => topic),
    );
    assert.deepEqual([...topics], path.includes("cut_1") ? ["/imu"] : ["/gps"]);
  }
});

test("a part that is cancelled while it is made is made no more, and holds up no other", async () => {
  await using scene = await startWithRecording();
  const { cloud, device } = scene;
  await writeRecording(device, "runs/large.mcap", { sizeBytes: 60_000_000 });
  await cloud.until("the large file is known", () => cloud.at("runs/large.mcap")?.state === "indexed");
  const { versionId } = cloud.at("runs/large.mcap")!;
  const small = ask(scene);
  const large = { ...small, requestId: "cut_0", versionId, topics: ["/blob"], start: 0n, end: 2n ** 62n };
  cloud.cuts = [large, small];
  cloud.changed();
  await eventually(() => existsSync(join(folderOf(scene), "cut_0/large.mcap.partial")), Boolean);
  cloud.cuts = [small];
  cloud.changed();
  await cloud.until("the other is reported", () => cutIn(scene) !== undefined);
  assert.equal(cutIn(scene)!.path, `${CUT_DIRECTORY}/cut_1/a.mcap`);
  await eventually(
    () => names(scene),
    (left) => left.join() === "cut_1",
  );
  assert.equal(cloud.failures.length, 0);
});

test("on a root that became read-only a part is given up with the reason, although one that is not wanted cannot be removed", async (t) => {
  await using scene = await startWithRecording((device) => mountSmall(t, device.root, "16m"));
  if (!scene.disk) return;
  const { cloud, device } = scene;
  const first = ask(scene);
  await cloud.until("the cut is reported", () => cutIn(scene) !== undefined);
  execFileSync("mount", ["-o", "remount,ro", device.root]);
  ask(scene, { ...first, requestId: "cut_2" });
  await cloud.until("the second is given up", () => cloud.failures.length === 1);
  assert.equal(cloud.failures[0]!.code, "CutNoSpace");
  execFileSync("mount", ["-o", "remount,rw", device.root]);
  cloud.cuts = [];
  cloud.changed();
  await eventually(
    () => names(scene),
    (left) => left.length === 0,
  );
});

test("a part for which the disk limits of the operator leave no room is given up, and nothing is deleted for it", async () => {
  await using scene = await startWithRecording(undefined, { maxDisk: "10kB" });
  ask(scene, { topics: ["/imu", "/camera"] });
  await scene.cloud.until("it is given up", () => scene.cloud.failures.length === 1);
  assert.equal(scene.cloud.failures[0]!.code, "CutNoSpace");
  assert.equal(scene.cloud.deleted.size, 0);
});
