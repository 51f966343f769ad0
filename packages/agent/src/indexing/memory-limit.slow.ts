import assert from "node:assert/strict";
import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { corrupt, hostileFiles, makeBag, makeMcap, oversizedFiles, writeOversized } from "@downlink/recordings/testing";
import { FakeCloud } from "../testing/fake-cloud.ts";
import { type MemoryCgroup, openMemoryCgroup, unitMemoryBytes } from "../testing/memory-cgroup.ts";
import { type Device, flagsFor, makeDevice } from "../testing/run-daemon.ts";
import { startAgent } from "../testing/start-agent.ts";

const SHARED = fileURLToPath(new URL("../../../../../shared/data/", import.meta.url));
const WAIT_MS = 240_000;

/** Starts the agent with the memory that its unit gives it; where no limit can be set, its highest RSS is checked instead. */
function startLimited(t: TestContext, device: Device, cloud: FakeCloud) {
  const limitBytes = unitMemoryBytes();
  const group = openGroup(t, limitBytes);
  const environment = {
    DOWNLINK_SETTLE_TIME: "1s",
    DOWNLINK_SCAN_INTERVAL: "2s",
    DOWNLINK_INCOMPLETE_AFTER: "3s",
  };
  const agent = startAgent([...flagsFor(device, cloud), "run"], environment, group && { within: group.within });
  const peakBytes = () =>
    1024 * Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${agent.pid}/status`, "utf8"))![1]);
  let end: Awaited<typeof agent.exited> | undefined;
  void agent.exited.then((ended) => {
    end = ended;
    cloud.changed(); // what waits looks again
  });
  return {
    agent,
    holdAlive() {
      if (!end) return;
      assert.fail(
        `the agent ended with code ${end.code}, killed for memory ${group?.kills() ?? 0} times: ${end.stderr}`,
      );
    },
    /** Checks that it is still the process that was started. */
    holdLimit() {
      assert.equal(group?.kills() ?? 0, 0, "killed for memory");
      t.diagnostic(
        `at most ${(peakBytes() / 1e6).toFixed(0)} MB of RSS; the unit allows ${(limitBytes / 1e6).toFixed(0)} MB`,
      );
      // With a group the kernel has judged. RSS also counts pages of files, which it takes back when it needs them.
      if (!group) assert.ok(peakBytes() < limitBytes);
    },
    async [Symbol.asyncDispose]() {
      await agent[Symbol.asyncDispose]();
      group?.[Symbol.dispose]();
    },
  };
}

function openGroup(t: TestContext, limitBytes: number): MemoryCgroup | undefined {
  try {
    return openMemoryCgroup(limitBytes);
  } catch (error) {
    t.diagnostic(`no limit of memory can be set here, its RSS is looked at instead: ${(error as Error).message}`);
    return undefined;
  }
}

async function writeInnocent(device: Device, count: number): Promise<string[]> {
  const bytes = await makeMcap({ durationSeconds: 1 });
  return Array.from({ length: count }, (_, number) => {
    const path = `z-innocent-${number}.mcap`;
    writeFileSync(join(device.root, path), bytes);
    return path;
  });
}

/**
 * Waits for one more file, in whatever order they come: how long hundreds take together is the machine's affair. `holdAlive` throws if
 * nothing more can come.
 */
async function untilSettled(
  cloud: FakeCloud,
  paths: readonly string[],
  { holdAlive }: { holdAlive(): void } = { holdAlive: () => undefined },
): Promise<void> {
  const isOpen = (path: string) => ["settling", undefined].includes(cloud.at(path)?.state);
  for (let open = paths; open.length > 0; open = open.filter(isOpen)) {
    const isOneSettled = () => {
      holdAlive();
      return !open.every(isOpen);
    };
    await cloud.until(`one of ${open.length} files is reported, as ${open[0]}`, isOneSettled, WAIT_MS);
  }
}

test("no hostile file takes the agent down within the memory of its unit, and all files beside them are examined", async (t) => {
  if (process.platform !== "linux") return t.skip("memory is read from /proc");
  await using cloud = await FakeCloud.start();
  using device = makeDevice();
  for (const file of oversizedFiles) writeOversized(join(device.root, file.fileName), file);
  const small = hostileFiles.map(({ make }, number) => ({ fileName: `hostile-${number}.mcap`, bytes: make() }));
  for (const variant of [...corrupt(await makeMcap({}), "a.mcap"), ...corrupt(await makeBag({}), "a.bag")])
    small.push({ fileName: `corrupt-${small.length}-${basename(variant.fileName)}`, bytes: variant.bytes });
  for (const { fileName, bytes } of small) writeFileSync(join(device.root, fileName), bytes);
  const innocent = await writeInnocent(device, 50);

  await using limited = startLimited(t, device, cloud);
  const expected = globSync("*.{mcap,bag}", { cwd: device.root });
  await untilSettled(cloud, expected, limited);
  for (const path of innocent) assert.equal(cloud.at(path)!.state, "indexed");
  for (const { fileName, state, isPartial } of oversizedFiles) {
    const item = cloud.at(fileName)!;
    assert.equal(item.state, state === "finished" ? "indexed" : state, fileName);
    if (isPartial) assert.equal(item.reason?.code, "PartlyListed", fileName);
  }
  limited.holdLimit();
});

test("the recordings of other programs are examined within the memory of the unit", async (t) => {
  if (!existsSync(SHARED)) return t.skip(`the shared recordings are not beside this checkout (${SHARED})`);
  await using cloud = await FakeCloud.start();
  using device = makeDevice();
  const paths = globSync("**/*.{mcap,bag}", { cwd: SHARED });
  for (const path of paths) {
    mkdirSync(join(device.root, path, ".."), { recursive: true });
    copyFileSync(join(SHARED, path), join(device.root, path));
  }
  await using limited = startLimited(t, device, cloud);
  await untilSettled(cloud, paths, limited);
  assert.ok(paths.length > 400);
  limited.holdLimit();
});

test("salvages of hostile files end within the memory of the unit, or are given up after the second death, and the agent goes on", async (t) => {
  if (process.platform !== "linux") return t.skip("memory is read from /proc");
  await using cloud = await FakeCloud.start();
  using device = makeDevice();
  // The first is salvaged; the tables of the other one alone may take more memory than there is.
  const cut = ["one-chunk-of-250-mb.zstd.mcap", "65535-channels.mcap"];
  for (const fileName of cut) {
    const path = join(device.root, fileName);
    writeOversized(path, oversizedFiles.find((file) => file.fileName === fileName)!);
    truncateSync(path, statSync(path).size - 8);
  }
  const innocent = await writeInnocent(device, 10);
  const isMade = (path: string) =>
    [...cloud.files.values()].some(
      (file) => file.state === "indexed" && file.metadata.at(-1)?.metadata.versionId === cloud.at(path)!.versionId,
    );
  const isGivenUp = (path: string) =>
    cloud.failures.some(({ requestId }) => requestId === `slv_${cloud.at(path)!.versionId}`);
  let lives = 0;
  let isOver = false;
  const keepRunning = async () => {
    for (; !isOver && lives < 2 * cut.length + 1; lives += 1) {
      await using limited = startLimited(t, device, cloud);
      const poll = setInterval(() => isOver && limited.agent.kill("SIGKILL"), 100);
      await limited.agent.exited;
      clearInterval(poll);
    }
  };
  const running = keepRunning();
  await untilSettled(cloud, cut);
  cloud.salvages = cut.map((path) => ({
    requestId: `slv_${cloud.at(path)!.versionId}`,
    versionId: cloud.at(path)!.versionId,
  }));
  cloud.changed();
  const isEnded = (path: string) => isMade(path) || isGivenUp(path);
  await cloud.until("every salvage has come to an end", () => cut.every(isEnded), WAIT_MS);
  assert.ok(isMade(cut[0]!));
  for (const path of innocent) assert.equal(cloud.at(path)!.state, "indexed");
  isOver = true;
  await running;
  t.diagnostic(`${lives - 1} deaths; given up: ${cut.filter(isGivenUp).join(", ") || "none"}`);
});
