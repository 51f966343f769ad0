import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeMcap } from "@downlink/recordings/testing";
import type { Device } from "./run-daemon.ts";

const incompressible = [{ topic: "/blob", kind: "blob", rateHz: 10, sizeBytes: 50_000 }] as const;

/** Writes a recording of about `sizeBytes`, which do not compress, and returns its bytes. */
export async function writeRecording(
  device: Pick<Device, "root">,
  path: string,
  options: { sizeBytes?: number; seed?: number } = {},
): Promise<Buffer> {
  const { sizeBytes = 50_000, seed = 1 } = options;
  const durationSeconds = Math.max(0.1, sizeBytes / 500_000);
  const bytes = Buffer.from(await makeOnce(durationSeconds, seed));
  writeFileSync(join(device.root, path), bytes);
  return bytes;
}

const made = new Map<string, Promise<Uint8Array>>();

/** Many tests write the same recordings of less than a megabyte. */
function makeOnce(durationSeconds: number, seed: number): Promise<Uint8Array> {
  const key = `${durationSeconds} ${seed}`;
  const making = made.get(key) ?? makeMcap({ topics: incompressible, durationSeconds, compression: "", seed });
  if (durationSeconds < 2) made.set(key, making);
  return making;
}
