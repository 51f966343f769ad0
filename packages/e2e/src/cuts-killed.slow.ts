import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { api, edgeLimits, type RecordingCut } from "@downlink/protocol";
import { eventually, type ReadMessage, readMessages, writeMcapFile } from "@downlink/recordings/testing";
import { request } from "undici";
import { type Scenario, startScenario } from "./processes/scenario.ts";

const KILLS = 30;
/** A kill costs at most what was sent of one part, whose least size this is. */
const MOST_LOST_BYTES = edgeLimits.slowLinkPartBytes;
const SECOND = 1_000_000_000n;
const SECONDS = 30;
const topics = [
  { topic: "/camera", kind: "blob" as const, rateHz: 10, sizeBytes: 200_000 },
  { topic: "/lidar", kind: "blob" as const, rateHz: 10, sizeBytes: 100_000 },
  { topic: "/imu", kind: "imu" as const, rateHz: 100 },
];

interface Whole {
  readonly id: string;
  readonly name: string;
  readonly start: bigint;
}

/** Puts files into the root and waits until all are known. */
async function makeWholes(
  { storageRoot, startAgent, recordings }: Scenario,
  names: readonly string[],
): Promise<Whole[]> {
  for (const [seed, name] of names.entries())
    await writeMcapFile(join(storageRoot, name), { topics, durationSeconds: SECONDS, compression: "", seed });
  startAgent();
  const found = await eventually(recordings, (all) => all.length === names.length);
  return found.map(({ id, path, start }) => ({ id, name: path, start }));
}

function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}

/** Waits for a moment at which the agent may be at anything: it begins, cuts, has cut, or has sent some of it. */
async function awaitMoment(scenario: Scenario, random: (below: number) => number, isIdle: () => Promise<boolean>) {
  const { proxy, storageRoot } = scenario;
  const before = proxy.sentBytes();
  const bytes = random(6_000_000);
  const cutFiles = () => readdirSync(join(storageRoot, ".downlink-cuts"), { recursive: true, encoding: "utf8" });
  const known = new Set(cutFiles());
  const moments = [
    () => proxy.sentBytes() - before > 2000 + bytes / 1000,
    () => cutFiles().some((name) => name.endsWith(".partial")),
    () => cutFiles().some((name) => name.endsWith(".mcap") && !known.has(name)),
    () => proxy.sentBytes() - before > bytes,
    () => proxy.sentBytes() - before > bytes,
  ];
  const isNow = moments[random(moments.length)]!;
  await eventually(
    async () => isNow() || (await isIdle()),
    (isReached) => isReached,
  );
}

const hasEnded = ({ importStatus }: RecordingCut) => importStatus === "complete" || importStatus === "failed";

const lineOf = ({ topic, logTimeNs, sequence, data }: ReadMessage) =>
  `${logTimeNs} ${topic} ${sequence} ${Buffer.from(data).toString("base64")}`;

async function linesOfCut({ cloud }: Scenario, { recordingId }: RecordingCut): Promise<string[]> {
  const { link } = await cloud().admin.call(api.exports.create, { recordingId: recordingId! });
  const { body } = await request(link);
  return readMessages(new Uint8Array(await body.arrayBuffer()))
    .map(lineOf)
    .sort();
}

async function linesOfPart({ storageRoot }: Scenario, { name }: Whole, cut: RecordingCut): Promise<string[]> {
  const isIn = ({ topic, logTimeNs }: ReadMessage) =>
    cut.topics.includes(topic) && logTimeNs >= cut.start && logTimeNs <= cut.end;
  return readMessages(await readFile(join(storageRoot, name)))
    .filter(isIn)
    .map(lineOf)
    .sort();
}

/** Asks for one of fifteen parts after the other. */
function createAsking({ cloud }: Scenario, wholes: readonly Whole[], random: (below: number) => number) {
  const parts = Array.from({ length: 15 }, (_, index) => ({
    ...{ whole: wholes[index % wholes.length]!, fromSeconds: Math.floor(index / wholes.length) * 6 },
    topics: [["/camera"], ["/camera", "/imu"], ["/lidar", "/imu"]][random(3)]!,
  }));
  return async () => {
    const next = parts.shift();
    if (!next) return;
    const start = next.whole.start + BigInt(next.fromSeconds) * SECOND;
    const part = { keyOrId: next.whole.id, topics: next.topics, start, end: start + 5n * SECOND };
    await cloud().admin.call(api.recordings.requestImport, part);
  };
}

test(`an agent that is killed ${KILLS} times while parts of files are wanted sends each of them, and leaves nothing on the device`, async (t) => {
  const scenario = await startScenario(t, { agentEnv: { DOWNLINK_INCOMPLETE_AFTER: "10min" } });
  const wholes = await makeWholes(scenario, ["a.mcap", "b.mcap", "c.mcap"]);
  const random = createRandom(11);
  const cutsOf = async ({ id: keyOrId }: Whole) =>
    (await scenario.cloud().admin.call(api.recordings.get, { keyOrId })).cuts ?? [];
  const all = async () => (await Promise.all(wholes.map(cutsOf))).flat();
  const isIdle = async () => (await all()).every(hasEnded);
  const askNext = createAsking(scenario, wholes, random);
  const cutFolder = join(scenario.storageRoot, ".downlink-cuts");
  scenario.proxy.throttle(10_000_000);
  await askNext();
  await eventually(() => existsSync(cutFolder), Boolean);
  const before = scenario.proxy.sentBytes();
  for (let kill = 0; kill < KILLS; kill += 1) {
    if (kill % 2 === 0) await askNext();
    await awaitMoment(scenario, random, isIdle);
    await scenario.agent().end("SIGKILL");
    scenario.startAgent();
  }
  const cuts = await eventually(all, (found) =>
    found.every(({ importStatus }) => /complete|failed/.test(importStatus)),
  );
  const failures = cuts.flatMap(({ failure }) => failure ?? []);
  assert.deepEqual(failures, []);
  const sentBytes = scenario.proxy.sentBytes() - before;
  const size = cuts.reduce((sum, cut) => sum + cut.size!, 0);
  t.diagnostic(`${cuts.length} parts of ${size} bytes, ${sentBytes} bytes sent`);
  assert.ok(sentBytes <= 1.05 * size + KILLS * MOST_LOST_BYTES, `${sentBytes} bytes were sent for ${size}`);
  for (const whole of wholes)
    for (const cut of await cutsOf(whole))
      assert.deepEqual(await linesOfCut(scenario, cut), await linesOfPart(scenario, whole, cut));
  await eventually(
    () => readdirSync(cutFolder),
    (left) => left.length === 0,
  );
});
