import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { eventually } from "@downlink/recordings/testing";
import { actOnFiles } from "../commands/act.ts";
import { explainFile } from "../commands/explain.ts";
import { listFiles } from "../commands/ls.ts";
import { databasePath } from "../state/database.ts";
import type { Owner } from "../state/owner.ts";
import { FakeCloud } from "../testing/fake-cloud.ts";
import { mountSmall } from "../testing/mount-small.ts";
import { writeRecording } from "../testing/recordings.ts";
import { makeDevice, settingsFor, startDaemon } from "../testing/run-daemon.ts";
import { startAgent } from "../testing/start-agent.ts";
import { makeCardMarker, ownerTag } from "./card-marker.ts";
import { isMountPoint } from "./mount-point.ts";
import { formatMarker } from "./root-marker.ts";

const swapped = { adoptsCards: "true" };

test("cards that are swapped are one store: the files of a card that is out are away, listed, and waited for", async (t) => {
  await using bed = await openCards(t);
  if (!bed) return;
  const { device, cloud } = bed;
  await bed.record("A", "run/1.mcap", 1);
  bed.putIn("A");
  const settings = settingsFor(device, cloud, swapped);
  await using agent = startDaemon(settings);
  await cloud.until("it is reported", () => cloud.files.size === 1);
  const onA = cloud.at("run/1.mcap")!.versionId;
  bed.takeOut();
  await agent.until("it is away", ({ files, problems }) => files.away === 1 && problems[0]?.code === "StorageMissing");
  const requestId = cloud.requestImport("run/1.mcap");

  await bed.record("B", "run/1.mcap", 2);
  bed.putIn("B");
  await cloud.until("the other is reported too", () => cloud.files.size === 2);
  await agent.until("nothing is missing", ({ problems }) => problems.length === 0);
  assert.match(bed.markerOf("B"), /^downlink-root card-[\w-]{16}-[\w-]{22}\n$/);
  assert.match(bed.markerOf("A"), /^downlink-root [\w-]{22}\n$/);
  const onB = [...cloud.files.keys()].find((versionId) => versionId !== onA)!;
  const waiting = await agent.until("the request is known", ({ counters }) => counters.scans > 3);
  assert.deepEqual(waiting.files, { away: 1, reported: 1 });
  assert.deepEqual(listedBy(settings), [
    ["run/1.mcap", "away", "CardOut"],
    ["run/1.mcap", "reported", undefined],
  ]);
  bed.takeOut();
  await agent.until("both are away", ({ files }) => files.away === 2);
  bed.putIn("A");
  await cloud.until("what was asked for is stored", () => cloud.uploads.stored.has(onA));
  assert.deepEqual(cloud.uploads.stored.get(onA), readFileSync(join(device.root, "run/1.mcap")));
  cloud.advance(requestId, "imported");
  await agent.until("it is what it was", ({ files }) => files.imported === 1 && files.away === 1);
  assert.deepEqual([new Set(cloud.files.keys()), cloud.failures], [new Set([onA, onB]), []]);
  bed.takeOut();
  bed.putIn("B");
  await agent.until("B is in again", ({ files }) => files.reported === 1 && files.away === 1);
  const { why, next } = await explainFile(settings, "run/1.mcap");
  assert.match(`${why} ${next}`, /nobody has asked for its import/);
  assert.deepEqual(new Set(cloud.files.keys()), new Set([onA, onB]));
});

test("a swap is noticed at once although nothing else happens, and explain says on which card a file is", async (t) => {
  await using bed = await openCards(t);
  if (!bed) return;
  const { device, cloud } = bed;
  await bed.record("A", "a.mcap", 1);
  await bed.record("B", "b.mcap", 2);
  bed.putIn("A");
  const settings = settingsFor(device, cloud, { ...swapped, scanIntervalMs: "1h", usesNotify: "false" });
  await using agent = startDaemon(settings);
  await agent.until("A is scanned", ({ files }) => files.reported === 1);
  bed.takeOut();
  bed.putIn("B");
  await cloud.until("B is scanned", () => cloud.at("b.mcap") !== undefined);
  cloud.requestImport("a.mcap");
  await cloud.until("the agent has polled for it", () => cloud.calls.filter(({ name }) => name === "work").length > 1);
  const card = bed.markerOf("A").trim().slice(-6);
  await agent.until("it is asked for", ({ connection }) => connection.state === "connected");
  const explain = () => explainFile(settings, "a.mcap");
  const { why } = await eventually(explain, (answer) => answer.why.includes("asked for"));
  assert.match(
    why,
    new RegExp(`^It is on the card …${card}, which was taken out at 2\\S+Z\\. Its import was asked for, and waits`),
  );
});

test("an empty mount point, a folder of the same disk, and another owner's card are not taken for a fresh one", async (t) => {
  await using bed = await openCards(t);
  if (!bed) return;
  const { device, cloud } = bed;
  bed.putIn("A");
  await bed.record("A", "a.mcap", 1);
  const settings = settingsFor(device, cloud, swapped);
  await using agent = startDaemon(settings);
  await cloud.until("it is reported", () => cloud.files.size === 1);
  bed.takeOut();
  await agent.until("it is away", ({ files }) => files.away === 1);
  writeFileSync(join(bed.folder("B"), ".downlink-root"), "downlink-root somebody-elses-card\n");
  await bed.record("B", "theirs.mcap", 2);
  bed.putIn("B");
  await agent.until("it is said", ({ problems }) =>
    /the marker of another root \(some/.test(problems[0]?.detail ?? ""),
  );
  bed.takeOut();
  const others = `card-${"x".repeat(16)}-${"y".repeat(22)}`;
  writeFileSync(join(bed.folder("B"), ".downlink-root"), `downlink-root ${others}\n`);
  bed.putIn("B");
  await agent.until("it is said of this too", ({ problems }) => (problems[0]?.detail ?? "").includes(others));
  bed.takeOut();
  mkdirSync(join(device.root, "..", "folder"));
  execFileSync("mount", ["--bind", join(device.root, "..", "folder"), device.root]);
  bed.holdsRoot();
  await agent.until("still nothing", ({ problems }) => /no card is in/.test(problems[0]?.detail ?? ""));
  bed.takeOut();
  assert.ok(
    !existsSync(join(device.root, ".downlink-root")) &&
      !existsSync(join(device.root, "..", "folder", ".downlink-root")),
  );
  assert.equal(await isMountPoint(device.root), false);
  assert.deepEqual(
    [cloud.files.size, cloud.at("theirs.mcap"), bed.markerOf("B")],
    [1, undefined, `downlink-root ${others}\n`],
  );
  bed.putIn("A");
  await agent.until("A is back", ({ files, problems }) => files.reported === 1 && problems.length === 0);
});

test("a complete list names the files that are away, and without ADOPT_CARDS another card is missing storage", async (t) => {
  await using bed = await openCards(t);
  if (!bed) return;
  const { device, cloud } = bed;
  await bed.reportBoth(settingsFor(device, cloud, swapped));
  const known = new Map(cloud.files);
  cloud.files.delete(cloud.at("b.mcap")!.versionId); // Now cloud and agent differ, and all is listed.
  await using second = startDaemon(settingsFor(device, cloud, swapped));
  await cloud.until("all is listed", () => cloud.at("b.mcap") !== undefined);
  await second.until("it is settled", ({ health, files }) => health === "healthy" && files.away === 1);
  assert.deepEqual([...cloud.files.keys()].sort(), [...known.keys()].sort());
  await second.stop();
  bed.takeOut();
  bed.putIn("A");
  await using strict = startDaemon(settingsFor(device, cloud));
  const { files } = await strict.until("A is not taken over", ({ problems }) => problems[0]?.code === "StorageMissing");
  assert.deepEqual([files, cloud.files.size], [{ away: 1, reported: 1 }, 2]);
});

test("an agent that lost its state database while a card is out takes nothing on it for gone, until it has seen the card", async (t) => {
  await using bed = await openCards(t);
  if (!bed) return;
  const { device, cloud } = bed;
  const settings = settingsFor(device, cloud, swapped);
  await bed.reportBoth(settings);
  for (const suffix of ["", "-wal", "-shm"]) rmSync(databasePath(device.stateDir) + suffix, { force: true });
  const [lostA, lostB] = [cloud.at("a.mcap")!.versionId, cloud.at("b.mcap")!.versionId];
  cloud.requestImport("a.mcap");
  cloud.leaseMs = 1; // An agent that lost its state cannot take over its own lease.
  // Between the scan that finds a file and its examination there is time for a listing.
  await using second = startDaemon(settingsFor(device, cloud, { ...swapped, settleTimeMs: "1s" }));
  const isListedAgain = (path: string, lost: string) =>
    [...cloud.files.values()].some((file) => file.path === path && file.versionId !== lost);
  await cloud.until("B is listed again", () => isListedAgain("b.mcap", lostB));
  await bed.record("B", "later.mcap", 3);
  await cloud.until("changes are reported as well", () => cloud.at("later.mcap") !== undefined);
  assert.deepEqual([cloud.files.has(lostA), cloud.failures], [true, []]);
  cloud.cancel("req_1");
  bed.takeOut();
  bed.putIn("A");
  // The end of the listing, by which the former versions are gone, names the versions in their place.
  await cloud.until("absence counts again", () => !cloud.files.has(lostA));
  assert.ok(isListedAgain("a.mcap", lostA) && !cloud.files.has(lostB));
  assert.deepEqual([...cloud.files.values()].map(({ path }) => path).sort(), ["a.mcap", "b.mcap", "later.mcap"]);
  await second.until("B is away", ({ files }) => files.away === 2 && files.reported === 1);
});

test("a request for a file of a card that the state has lost is not given up between the card's return and its listing", async (t) => {
  await using bed = await openCards(t);
  if (!bed) return;
  const { device, cloud } = bed;
  const settings = settingsFor(device, cloud, { ...swapped, scanIntervalMs: "100ms" });
  await bed.reportBoth(settings);
  for (const suffix of ["", "-wal", "-shm"]) rmSync(databasePath(device.stateDir) + suffix, { force: true });
  cloud.requestImport("a.mcap");
  cloud.leaseMs = 1;
  await using agent = startDaemon(settings);
  await agent.until("B is listed again", ({ files }) => files.reported === 1);
  const listed = Promise.withResolvers<void>();
  cloud.gate = ({ name }) => (name === "report" ? listed.promise : undefined);
  bed.takeOut();
  bed.putIn("A");
  const { counters } = await agent.until("A is examined", ({ files }) => files.indexed === 1 && files.away === 1);
  await agent.until("it has looked at its work", ({ counters: { scans } }) => scans > counters.scans + 3);
  assert.deepEqual(cloud.failures, []);
  listed.resolve();
  await cloud.until("the request ends once the cloud has the whole listing", () => cloud.failures.length === 1);
});

test("an agent that lost all its state knows by the marker that there may be other cards", async (t) => {
  await using bed = await openCards(t);
  if (!bed) return;
  const { device, cloud } = bed;
  const settings = settingsFor(device, cloud, swapped);
  await bed.reportBoth(settings);
  rmSync(device.stateDir, { recursive: true });
  const [lostA, lostB] = [cloud.at("a.mcap")!.versionId, cloud.at("b.mcap")!.versionId];
  cloud.leaseMs = 1; // An agent that lost its state cannot take over its own lease.
  await using second = startDaemon(settings);
  await cloud.until("B is listed again", () => [...cloud.files.keys()].some((id) => id !== lostA && id !== lostB));
  await bed.record("B", "later.mcap", 3);
  await cloud.until("changes are reported as well", () => cloud.at("later.mcap") !== undefined);
  assert.ok(cloud.files.has(lostA));
  await second.stop();

  const own = [
    "--url",
    cloud.url,
    "--token",
    cloud.token,
    "--storage-root",
    device.root,
    "--state-dir",
    device.stateDir,
  ];
  const config = ["--config", join(device.root, "..", "agent.env")];
  await using enrolment = startAgent([...own, ...config, "enroll"], { DOWNLINK_ADOPT_CARDS: "true" });
  assert.equal((await enrolment.exited).code, 0);
  await using _third = startDaemon(settings);
  await cloud.until("the operator's word ends the wait", () => !cloud.files.has(lostA));
});

test("a crash between writing the marker, the state and the file beside it leaves the store as it was", async (t) => {
  await using bed = await openCards(t);
  if (!bed) return;
  const { device, cloud } = bed;
  await bed.record("A", "a.mcap", 1);
  await bed.record("B", "b.mcap", 2);
  bed.putIn("A");
  const settings = settingsFor(device, cloud, swapped);
  const first = startDaemon(settings);
  await cloud.until("A is reported", () => cloud.at("a.mcap") !== undefined);
  await first.stop();
  const ownerFile = join(device.stateDir, "owner.json");
  const before = readFileSync(ownerFile, "utf8");
  bed.takeOut();
  // The marker was written, and nothing else.
  const fresh = makeCardMarker(ownerTag(JSON.parse(before) as Owner)!);
  writeFileSync(join(bed.folder("B"), ".downlink-root"), formatMarker(fresh));
  bed.putIn("B");
  const second = startDaemon(settings);
  await cloud.until("B is reported", () => cloud.at("b.mcap") !== undefined);
  await second.until("A is away", ({ files }) => files.away === 1);
  await second.stop();
  // The state was written, and not the file beside it.
  writeFileSync(ownerFile, before);
  const known = [...cloud.files.keys()].sort();
  const third = startDaemon(settings);
  await third.until(
    "B is as it was",
    ({ files, health }) => health === "healthy" && files.reported === 1 && files.away === 1,
  );
  bed.takeOut();
  bed.putIn("A");
  await third.until("A is in", ({ files, problems }) => files.reported === 1 && problems.length === 0);
  await third.stop();
  assert.deepEqual([...cloud.files.keys()].sort(), known);
});

test("a card that comes back with other inode numbers holds the same versions; an import requested meanwhile waits for it", async (t) => {
  await using bed = await openCards(t);
  if (!bed) return;
  const { device, cloud } = bed;
  await bed.record("A", "done.mcap", 1);
  await bed.record("A", "wanted.mcap", 2);
  bed.putIn("A");
  const settings = settingsFor(device, cloud, swapped);
  await using agent = startDaemon(settings);
  await cloud.until("both are reported", () => cloud.files.size === 2);
  const requestId = cloud.requestImport("done.mcap");
  const { versionId } = cloud.at("done.mcap")!;
  await cloud.until("the one is stored", () => cloud.uploads.stored.has(versionId));
  cloud.advance(requestId, "imported");
  await agent.until("it is imported", ({ files }) => files.imported === 1 && files.reported === 1);
  bed.takeOut();
  bed.putIn("B");
  await agent.until("they are away", ({ files, problems }) => files.away === 2 && problems.length === 0);
  const card = bed.markerOf("A").trim().slice(-6);
  const [asked, had] = await actOnFiles(settings, { action: "import" }, ["wanted.mcap", "done.mcap"]);
  assert.deepEqual([asked?.result, had?.result], ["done", "already"]);
  assert.match(asked?.text ?? "", new RegExp(`it is on the card …${card}, which is out$`));
  assert.equal(had?.text, "it is in the control plane already");
  const listed = listFiles(settings, { globs: ["want*"], limit: "1" })?.files;
  assert.deepEqual(
    listed?.map(({ path, reason }) => [path, reason?.code]),
    [["wanted.mcap", "CardOut"]],
  );
  bed.takeOut();
  for (const name of ["done.mcap", "wanted.mcap"]) asOtherEntry(join(bed.folder("A"), name));
  bed.putIn("A");
  const wanted = [...cloud.files.values()].find(({ path }) => path === "wanted.mcap")!.versionId;
  await cloud.until("what was asked for is stored", () => cloud.uploads.stored.has(wanted));
  const { files } = await agent.until("all is settled", ({ files: { away = 0, imported } }) => !away && imported === 1);
  assert.equal(files.seen ?? 0, 0);
  assert.deepEqual([cloud.files.size, cloud.at("done.mcap")?.versionId], [2, versionId]);
  assert.equal(cloud.uploads.stored.size, 2, "nothing is sent twice");
});

/** Gives the file another inode number, as a file system does that makes up its numbers at each mount. */
function asOtherEntry(path: string): void {
  execFileSync("cp", ["-p", path, `${path}.copy`]);
  renameSync(`${path}.copy`, path);
}

/** Makes two cards, which are put in by mounting them at the device's root; skips the test where nothing can be mounted. */
async function openCards(t: TestContext) {
  const device = makeDevice();
  const folder = (name: string) => join(device.root, "..", "cards", name);
  const mounts = new DisposableStack();
  for (const name of ["A", "B"]) {
    const mounted = mountSmall(t, folder(name), "8m");
    if (!mounted) return undefined;
    mounts.use(mounted);
  }
  const cloud = await FakeCloud.start();
  let isIn = false;
  const takeOut = () => {
    if (isIn) execFileSync("umount", ["-l", device.root]);
    isIn = false;
  };
  const putIn = (name: string) => {
    execFileSync("mount", ["--bind", folder(name), device.root]);
    isIn = true;
  };
  const record = async (name: string, path: string, seed: number) => {
    mkdirSync(dirname(join(folder(name), path)), { recursive: true });
    await writeRecording({ root: folder(name) }, path, { seed, sizeBytes: 20_000 });
  };
  return {
    ...{ device, cloud, folder, takeOut, putIn, record },
    /** Runs an agent until it has reported a.mcap of card A, then b.mcap of card B. It has ended then, and B is in. */
    async reportBoth(settings: ReturnType<typeof settingsFor>): Promise<void> {
      await record("A", "a.mcap", 1);
      await record("B", "b.mcap", 2);
      putIn("A");
      await using _agent = startDaemon(settings);
      await cloud.until("A is reported", () => cloud.at("a.mcap") !== undefined);
      takeOut();
      putIn("B");
      await cloud.until("B is reported", () => cloud.at("b.mcap") !== undefined);
    },
    /** Takes away what else was mounted there. */
    holdsRoot: () => {
      isIn = true;
    },
    markerOf: (name: string) => readFileSync(join(folder(name), ".downlink-root"), "utf8"),
    async [Symbol.asyncDispose]() {
      takeOut();
      await cloud[Symbol.asyncDispose]();
      mounts.dispose();
      device[Symbol.dispose]();
    },
  };
}

/** Returns what `agent ls` shows of each file. */
function listedBy(settings: Parameters<typeof listFiles>[0]): unknown[] {
  const listing = listFiles(settings, {})!;
  return listing.files.map(({ path, state, reason }) => [path, state, reason?.code]).sort();
}
