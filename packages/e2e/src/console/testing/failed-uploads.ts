import assert from "node:assert/strict";
import { uploads } from "@downlink/protocol";
import { makeMcap } from "@downlink/recordings/testing";
import type { ConsoleScenario } from "./start-console.ts";

/** Later than the recordings that the robot's agent reports. */
const LATE_NS = 1_770_000_000_000_000_000n;

/** Uploads a file of the robot by a link, as a user without an agent does. */
export async function uploadFile({ cloud }: ConsoleScenario, filename: string, bytes: Uint8Array): Promise<void> {
  const { link } = await cloud().admin.call(uploads.create, { filename, deviceName: "rover" });
  const answer = await fetch(link, { method: "PUT", body: bytes as Uint8Array<ArrayBuffer> });
  assert.ok(answer.ok, await answer.text());
}

/** A recording of twenty seconds without its last part, as a loss of power leaves it. */
export async function cutRecording(): Promise<Uint8Array> {
  const whole = await makeMcap({ startNs: LATE_NS, durationSeconds: 20, chunkBytes: 20_000 });
  return whole.slice(0, Math.floor(whole.length * 0.6));
}
