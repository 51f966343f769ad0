import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { api } from "@downlink/protocol";
import { eventually, makeMcap } from "@downlink/recordings/testing";
import type { Scenario } from "./scenario.ts";
import type { TcpProxy } from "./tcp-proxy.ts";

export interface BadLink {
  readonly bytesPerSecond: number;
  readonly cutEveryMs: number;
}

/**
 * Makes the link slow, and cuts it again and again, until this is disposed of: each time that it has carried as much as it can within
 * `cutEveryMs`. On a busy machine that takes longer; if the clock cut it, more bytes would be lost there.
 */
export function makeBad(proxy: TcpProxy, { bytesPerSecond, cutEveryMs }: BadLink): Disposable & { cuts(): number } {
  let isOver = false;
  let cuts = 0;
  const keepCutting = async () => {
    while (!isOver) {
      proxy.holdAfter(proxy.sentBytes() + (bytesPerSecond * cutEveryMs) / 1000);
      await proxy.held();
      if (isOver) return;
      proxy.cut();
      cuts += 1;
    }
  };
  proxy.throttle(bytesPerSecond);
  void keepCutting();
  return {
    cuts: () => cuts,
    [Symbol.dispose]() {
      isOver = true;
      proxy.holdAfter(Number.POSITIVE_INFINITY);
      proxy.throttle(Number.POSITIVE_INFINITY);
    },
  };
}

/** Adds a recording of about that size, and waits until the cloud knows it. The import is not requested yet. */
export async function addRecording(
  { storageRoot, recordings }: Pick<Scenario, "storageRoot" | "recordings">,
  { name, sizeBytes }: { name: string; sizeBytes: number },
): Promise<{ id: string; path: string; bytes: Uint8Array }> {
  const messageBytes = 10_000;
  const topics = [{ topic: "/blob", kind: "blob" as const, rateHz: 10, sizeBytes: messageBytes }];
  const bytes = await makeMcap({ topics, durationSeconds: sizeBytes / messageBytes / 10, compression: "" });
  const path = join(storageRoot, name);
  await writeFile(path, bytes);
  const all = await eventually(recordings, (found) => found.some((one) => one.path === name));
  return { id: all.find((one) => one.path === name)!.id, path, bytes };
}

export async function askFor(scenario: Scenario, id: string): Promise<void> {
  await scenario.cloud().admin.call(api.recordings.requestImport, { keyOrId: id });
}
