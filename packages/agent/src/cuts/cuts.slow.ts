import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { EdgeRecordingItem, WantedCut } from "@downlink/protocol";
import { makeMcap, readIndexedMessages } from "@downlink/recordings/testing";
import { CUT_DIRECTORY } from "../files/made-path.ts";
import { FakeCloud } from "../testing/fake-cloud.ts";
import { makeDevice, settingsFor, startDaemon } from "../testing/run-daemon.ts";

const PATH = "runs/a.mcap";

/** Makes a recording on a device with an agent. */
async function startWithRecording() {
  const cloud = await FakeCloud.start();
  const device = makeDevice();
  mkdirSync(join(device.root, "runs"), { recursive: true });
  const bytes = await makeMcap({ chunkBytes: 20_000, metadata: [{ name: "downlink", metadata: { key: "k-1" } }] });
  writeFileSync(join(device.root, PATH), bytes);
  cloud.cuts = [];
  const settings = settingsFor(device, cloud);
  const daemon = startDaemon(settings);
  await cloud.until("the file is known", () => cloud.at(PATH)?.state === "indexed");
  return {
    ...{ cloud, device, settings, daemon, bytes },
    async [Symbol.asyncDispose]() {
      await daemon[Symbol.asyncDispose]();
      await cloud[Symbol.asyncDispose]();
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
