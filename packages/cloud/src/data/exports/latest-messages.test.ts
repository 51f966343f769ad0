import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, type CallInput } from "@downlink/protocol";
import { readMessages, slowTest, writeMessages } from "@downlink/recordings/testing";
import { startCloud } from "../../testing/start-cloud.ts";
import { uploadFile } from "../../testing/upload-file.ts";

const cloud = await startCloud({ after });
const { admin } = cloud;
const SECOND = 1_000_000_000n;
const START = 1_760_000_000n * SECOND;

interface Shown {
  readonly topic: string;
  /** Seconds after the start. */
  readonly at: number;
}

interface Split {
  readonly schema: string;
  readonly messages: readonly Shown[];
}

/** One drive in three files: only the first one has the transforms that never change; from the second on the schema is another one. */
const splits: readonly Split[] = [
  { schema: "one", messages: [at("/tf_static", 0), at("/imu", 1), at("/once", 1), at("/imu", 9)] },
  { schema: "two", messages: [at("/imu", 10), at("/gps", 11), at("/imu", 19)] },
  { schema: "two", messages: [at("/imu", 20), at("/gps", 21), at("/imu", 25), at("/late", 28), at("/imu", 29)] },
];

function at(topic: string, seconds: number): Shown {
  return { topic, at: seconds };
}

async function importDrive(deviceName: string): Promise<string> {
  for (const [index, { schema, messages }] of splits.entries()) {
    const bytes = await writeMessages({
      messages: messages.map((message) => ({
        topic: message.topic,
        logTimeNs: START + BigInt(message.at) * SECOND,
        data: Buffer.from(`${message.topic} ${message.at}`),
      })),
      topics: [...new Set(messages.map(({ topic }) => topic))],
      schema,
      compression: "zstd",
      chunkBytes: 1000,
      isIndexed: true,
    });
    const { status } = await uploadFile(cloud, bytes, {
      filename: `split-${index}.mcap`,
      deviceName,
      sessionKey: `${deviceName}-drive`,
    });
    assert.equal(status, "complete");
  }
  return `${deviceName}-drive`;
}

interface Window {
  readonly from: number;
  readonly to: number;
  readonly topics?: readonly string[];
  readonly lookback?: number;
}

/** Returns the latest message before the window of each topic in each schema, then the window. */
function expected({ from, to, topics, lookback = Number.POSITIVE_INFINITY }: Window): string[] {
  const all = splits.flatMap(({ schema, messages }) => messages.map((message) => ({ ...message, schema })));
  const wanted = all.filter(({ topic }) => !topics || topics.includes(topic));
  const latest = new Map<string, (typeof wanted)[number]>();
  for (const message of wanted)
    if (message.at < from && message.at >= from - lookback) latest.set(`${message.topic} ${message.schema}`, message);
  const inside = wanted.filter((message) => message.at >= from && message.at <= to);
  return [...latest.values()]
    .sort((a, b) => a.at - b.at)
    .concat(inside)
    .map((message) => `${message.topic} ${message.at}`);
}

async function found(
  body: CallInput<typeof api.exports.create>,
  { from, to, topics, lookback }: Window,
): Promise<string[]> {
  const { link } = await admin.call(api.exports.create, {
    ...body,
    start: START + BigInt(from) * SECOND,
    end: START + BigInt(to) * SECOND,
    topics: topics && [...topics],
    replayPolicy: "lastPerChannel",
    replayLookbackSeconds: lookback,
  });
  const response = await fetch(link);
  return readMessages(new Uint8Array(await response.arrayBuffer())).map(({ data }) => Buffer.from(data).toString());
}

const windows: readonly Window[] = [
  { from: 22, to: 26 },
  { from: 22, to: 26, topics: ["/tf_static", "/imu"] },
  { from: 22, to: 26, topics: ["/late"] },
  { from: 22, to: 26, lookback: 12 },
  { from: 22, to: 26, lookback: 21 },
  { from: 15, to: 16 },
  { from: 0, to: 30 },
  { from: 29, to: 29 },
  { from: 40, to: 50 },
];

test("the latest message of each channel comes from the file of the drive that has it, by session and by device", async () => {
  const sessionKey = await importDrive("splitter");
  for (const window of windows) {
    const about = JSON.stringify(window);
    assert.deepEqual(await found({ sessionKey }, window), expected(window), about);
    // For a device without other selectors, recordings that end before the window and the look-back are not selected.
    if (window.from <= 29) assert.deepEqual(await found({ deviceName: "splitter" }, window), expected(window), about);
  }
});

slowTest("the same holds if it is not stored which channels the recordings have", async () => {
  const sessionKey = await importDrive("older");
  await cloud.deps.db.prisma.recordingTopic.updateMany({ data: { channelsKey: null } });
  for (const window of windows) assert.deepEqual(await found({ sessionKey }, window), expected(window));
});
