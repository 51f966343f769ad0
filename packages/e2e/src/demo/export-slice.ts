import type { Client } from "@downlink/client";
import { api, formatTimestamp } from "@downlink/protocol";
import { readIndexedMessages } from "@downlink/recordings/testing";
import { request } from "undici";
import { DemoError } from "./demo-error.ts";
import { say } from "./say.ts";

const TOPICS = ["/imu", "/gps"];
const SECOND_NS = 1_000_000_000n;

/** Streams a slice of one recording, reads it back with an independent reader, and checks that it is the requested slice. */
export async function exportSlice(client: Client, path: string): Promise<void> {
  const [recording] = await client.call(api.recordings.list, { path });
  const start = recording!.start + 5n * SECOND_NS;
  const end = start + 2n * SECOND_NS;
  const { link } = await client.call(api.exports.create, { recordingId: recording!.id, topics: TOPICS, start, end });
  const response = await request(link);
  const bytes = new Uint8Array(await response.body.arrayBuffer());
  if (response.statusCode !== 200)
    throw new DemoError(`the export answered ${response.statusCode}: ${Buffer.from(bytes)}`);
  const messages = await readIndexedMessages(bytes);
  const isExact = messages.every(
    ({ topic, logTimeNs }) => TOPICS.includes(topic) && logTimeNs >= start && logTimeNs <= end,
  );
  const isOrdered = messages.every(
    ({ logTimeNs }, index) => index === 0 || logTimeNs >= messages[index - 1]!.logTimeNs,
  );
  if (!isExact || !isOrdered || messages.length === 0)
    throw new DemoError("the exported slice is not what was asked for");
  for (const [topic, inTopic] of Map.groupBy(messages, ({ topic }) => topic))
    say(`${topic}: ${inTopic.length} messages`);
  say(
    `${bytes.length} bytes of indexed MCAP from ${path}, ${formatTimestamp(start)} to ${formatTimestamp(end)}, read back and in order`,
  );
}
