import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createReadStream, readdirSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { api, type CallInput, formatTimestamp, type RecordingCut } from "@downlink/protocol";
import {
  eventually,
  makeBag,
  makeMcap,
  propertyRuns,
  type ReadMessage,
  readMessages,
  writeMcapFile,
} from "@downlink/recordings/testing";
import { request } from "undici";
import { runAgentCommand } from "./processes/edge-agent.ts";
import { type Scenario, startScenario } from "./processes/scenario.ts";

const PROGRAM = fileURLToPath(new URL("../../cli/src/main.ts", import.meta.url));

type Part = Pick<CallInput<typeof api.recordings.requestImport>, "topics" | "start" | "end">;

/** Asks for a part of the only recording, and waits until all of it is imported. */
async function importPart({ cloud }: Scenario, keyOrId: string, part: Part): Promise<readonly RecordingCut[]> {
  const { admin } = cloud();
  const asked = await admin.call(api.recordings.requestImport, { keyOrId, ...part });
  const ids = new Set(asked.cuts!.map(({ id }) => id));
  const whole = await eventually(
    () => admin.call(api.recordings.get, { keyOrId }),
    ({ cuts = [] }) => cuts.every((cut) => !ids.has(cut.id) || /complete|failed/.test(cut.importStatus)),
  );
  return whole.cuts!.filter(({ id }) => ids.has(id));
}

async function exportOf({ cloud }: Scenario, selection: CallInput<typeof api.exports.create>): Promise<Uint8Array> {
  const { link } = await cloud().admin.call(api.exports.create, selection);
  const { body } = await request(link);
  return new Uint8Array(await body.arrayBuffer());
}

const lineOf = ({ topic, logTimeNs, sequence, data }: ReadMessage) =>
  `${logTimeNs} ${topic} ${sequence} ${Buffer.from(data).toString("base64")}`;

/** Returns the messages of a part by an independent reader. */
function linesOf(file: Uint8Array, { topics, start, end }: Part): string[] {
  const isIn = ({ topic, logTimeNs }: ReadMessage) =>
    (!topics || topics.includes(topic)) && logTimeNs >= start! && logTimeNs <= end!;
  return readMessages(file).filter(isIn).map(lineOf).sort();
}

/** Calls the control plane by another way than the agent, whose bytes are counted. */
async function runDl({ cloud }: Scenario, args: readonly string[]): Promise<{ code: number; out: string }> {
  const { url, adminKey } = cloud();
  const env = { ...process.env, DOWNLINK_API_URL: url, DOWNLINK_API_KEY: adminKey };
  const program = spawn(process.execPath, [PROGRAM, ...args], { env, stdio: ["ignore", "pipe", "inherit"] });
  let out = "";
  program.stdout.on("data", (piece: Buffer) => (out += piece.toString()));
  const [code] = await once(program, "close");
  return { code, out };
}

async function onlyOne(scenario: Scenario): Promise<{ id: string; start: bigint; end: bigint }> {
  const [whole] = await eventually(
    () => scenario.recordings(),
    (found) => found.length === 1,
  );
  return whole!;
}

test("parts of a recording that are asked for one after another are together what the same export of the whole is, and nothing is sent twice", async (t) => {
  const scenario = await startScenario(t);
  const file = await makeMcap({ chunkBytes: 30_000, durationSeconds: 4 });
  await writeFile(join(scenario.storageRoot, "run.mcap"), file);
  scenario.startAgent();
  const { id, start } = await onlyOne(scenario);
  const at = (ms: number) => start + BigInt(ms) * 1_000_000n;
  const names = [...new Set(readMessages(file).map(({ topic }) => topic))];
  let seed = 7;
  const next = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  for (let run = 0; run < Math.max(6, propertyRuns(6)); run++) {
    const [from, span] = [next(3500), 100 + next(1200)];
    const topics = names.filter(() => next(2) === 0);
    const part = { topics: topics.length > 0 ? topics : names, start: at(from), end: at(from + span) };
    const expected = linesOf(file, part);
    if (expected.length === 0) continue;
    const cuts = await importPart(scenario, id, part);
    assert.ok(
      cuts.every(({ importStatus, failure }) => importStatus === "complete" || failure?.code === "EmptyCut"),
      JSON.stringify(cuts.map(({ failure }) => failure)),
    );
    const exported = await exportOf(scenario, { deviceId: scenario.deviceId, ...part, requireComplete: true });
    assert.deepEqual(readMessages(exported).map(lineOf).sort(), expected);
  }
  const cuts = (await scenario.recordings()).filter(({ cutOf }) => cutOf?.recordingId === id);
  assert.ok(cuts.length >= 3, `${cuts.length} parts`);
  await eventually(
    async () => readdirSync(join(scenario.storageRoot, ".downlink-cuts")),
    (left) => left.length === 0,
  );
  const sum = cuts.reduce((messages, { messageCount }) => messages + messageCount, 0);
  const all = { start: 0n, end: 2n ** 62n };
  assert.equal(readMessages(await exportOf(scenario, { deviceId: scenario.deviceId, ...all })).length, sum);

  await scenario.cloud().admin.call(api.recordings.requestImport, { keyOrId: id });
  await scenario.until("complete", id);
  const whole = readMessages(await exportOf(scenario, { deviceId: scenario.deviceId, ...all }));
  assert.deepEqual(whole.map(lineOf).sort(), linesOf(file, all), "each message comes once");
});

test("a part of a large recording costs the link little more than itself, also where the agent is killed meanwhile", async (t) => {
  const scenario = await startScenario(t);
  const topics = [
    { topic: "/camera", kind: "blob" as const, rateHz: 20, sizeBytes: 500_000 },
    { topic: "/imu", kind: "imu" as const, rateHz: 100 },
  ];
  const path = join(scenario.storageRoot, "large.mcap");
  await writeMcapFile(path, { topics, durationSeconds: 20, compression: "" });
  scenario.startAgent();
  const { id, start } = await onlyOne(scenario);
  const part = { topics: ["/camera"], start: start + 5_000_000_000n, end: start + 7_000_000_000n };
  const { bytes } = await scenario.cloud().admin.call(api.recordingCuts.estimate, { keyOrId: id, ...part });
  const flags = [id, "--topic", "/cam*", "--start", formatTimestamp(part.start), "--end", formatTimestamp(part.end)];
  assert.match((await runDl(scenario, ["import", ...flags, "--estimate"])).out, /about 2\d\.\d MB, 4[01] messages/);
  const before = scenario.proxy.sentBytes();
  const watching = runDl(scenario, ["import", ...flags, "--watch"]);
  await eventually(
    async () => readdirSync(scenario.storageRoot, { recursive: true, encoding: "utf8" }),
    (found) => found.some((name) => name.endsWith(".partial") || /cuts\/.*\.mcap$/.test(name)),
  );
  await scenario.agent().end("SIGKILL");
  scenario.startAgent();
  const { cuts } = await eventually(
    () => scenario.cloud().admin.call(api.recordings.get, { keyOrId: id }),
    (whole) => whole.cuts?.[0]?.importStatus === "complete",
  );
  const [cut] = cuts!;
  assert.equal(cuts!.length, 1);
  const { code, out } = await watching;
  assert.equal(code, 0, out);
  assert.match(out, new RegExp(`\n${cut!.recordingId!}  complete  /camera  .*MB\n$`));
  assert.ok(
    Math.abs(bytes - cut!.size!) < 0.1 * cut!.size!,
    `${bytes} bytes were estimated, and there are ${cut!.size}`,
  );
  const sentBytes = scenario.proxy.sentBytes() - before;
  assert.ok(sentBytes < 1.05 * cut!.size! + 200_000, `${sentBytes} bytes were sent for ${cut!.size}`);
  const chunks: Buffer[] = [];
  for await (const chunk of createReadStream(path)) chunks.push(chunk as Buffer);
  const exported = await exportOf(scenario, { recordingId: cut!.recordingId! });
  assert.deepEqual(readMessages(exported).map(lineOf).sort(), linesOf(Buffer.concat(chunks), part));
});

test("a person on the device asks for a part of a file by its path, or hears why it cannot come", async (t) => {
  const scenario = await startScenario(t);
  const file = await makeMcap({ chunkBytes: 30_000, durationSeconds: 4 });
  await writeFile(join(scenario.storageRoot, "run.mcap"), file);
  scenario.startAgent();
  const { id, start } = await onlyOne(scenario);
  const part = { topics: ["/imu"], start: start + 1_000_000_000n, end: start + 2_000_000_000n };
  const times = ["--start", formatTimestamp(part.start), "--end", formatTimestamp(part.end)];
  const ask = (topic: string) =>
    runAgentCommand(scenario.agentOptions, "import", "run.mcap", "--topic", topic, ...times);
  const wrong = await ask("/lidar*");
  assert.match(wrong.output, /run\.mcap: .*must name topics of the recording, which has no "\/lidar\*"/);
  assert.match((await ask("/im*")).output, /run\.mcap: the part is asked for/);
  const whole = await eventually(
    () => scenario.cloud().admin.call(api.recordings.get, { keyOrId: id }),
    ({ cuts = [] }) => cuts[0]?.importStatus === "complete",
  );
  assert.match((await ask("/imu")).output, /run\.mcap: this part is in the control plane already/);
  assert.deepEqual([whole.importStatus, whole.cuts!.length], ["none", 1]);
  const exported = await exportOf(scenario, { recordingId: whole.cuts![0]!.recordingId! });
  assert.deepEqual(readMessages(exported).map(lineOf).sort(), linesOf(file, part));
});

test("a part of a bag is a recording, too", async (t) => {
  const scenario = await startScenario(t);
  const bag = await makeBag({ durationSeconds: 2 });
  await writeFile(join(scenario.storageRoot, "run.bag"), bag);
  scenario.startAgent();
  const { id, start } = await onlyOne(scenario);
  const [cut] = await importPart(scenario, id, { topics: ["/imu"], start, end: start + 500_000_000n });
  assert.equal(cut!.importStatus, "complete", cut!.failure?.text);
  const messages = readMessages(await exportOf(scenario, { recordingId: cut!.recordingId! }));
  assert.ok(messages.length > 10 && messages.every(({ topic }) => topic === "/imu"));
});
