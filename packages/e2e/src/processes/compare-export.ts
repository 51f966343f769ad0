import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { api, type Recording } from "@downlink/protocol";
import { exportBytes, type ReadMessage, readIndexedMessages, readMessages } from "@downlink/recordings/testing";
import { request } from "undici";
import type { Scenario } from "./scenario.ts";

/** Checks that the export of a recording has the messages of the file on the robot, each byte of them. */
export async function assertExportedExactly(scenario: Scenario, recording: Recording): Promise<void> {
  const exported = await exportOf(scenario, recording);
  const inFile = await digestOfFile(join(scenario.storageRoot, recording.path));
  assert.deepEqual(digestByTopic(await readIndexedMessages(exported)), inFile, recording.path);
}

async function exportOf({ cloud }: Scenario, { id }: Recording): Promise<Uint8Array> {
  const { link } = await cloud().admin.call(api.exports.create, { recordingId: id });
  const { statusCode, body } = await request(link);
  const bytes = new Uint8Array(await body.arrayBuffer());
  assert.equal(statusCode, 200, Buffer.from(bytes.subarray(0, 500)).toString());
  return bytes;
}

/** An independent reader reads an MCAP; a bag is converted first. */
async function digestOfFile(path: string) {
  const bytes = await readFile(path);
  if (path.endsWith(".mcap")) return digestByTopic(readMessages(bytes));
  return digestByTopic(readMessages(await exportBytes(bytes, { fileName: path, compression: "" })));
}

/** Counts and hashes each topic's messages in the order of time. */
function digestByTopic(messages: readonly ReadMessage[]): Record<string, string> {
  const digests: Record<string, string> = {};
  for (const [topic, inTopic] of Map.groupBy(messages, (message) => message.topic)) {
    const hash = createHash("sha256");
    inTopic.sort((a, b) => Number(a.logTimeNs - b.logTimeNs));
    for (const { logTimeNs, data } of inTopic) hash.update(`${logTimeNs} ${data.length} `).update(data);
    digests[topic] = `${inTopic.length} ${hash.digest("hex")}`;
  }
  return digests;
}
