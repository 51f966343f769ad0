import { copyFile, mkdir, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { makeBag, makeMcap } from "@downlink/recordings/testing";
import { say } from "./say.ts";

const MINUTE_NS = 60_000_000_000n;
const START_NS = 1_767_323_045_000_000_000n; // 2026-01-02T03:04:05Z

/** Fills a robot's folder with four recordings, one that was cut off, and the files of the caller. Returns their paths in the folder. */
export async function writeRecordings(storageRoot: string, files: readonly string[]): Promise<string[]> {
  const whole = await makeMcap({ startNs: START_NS, durationSeconds: 20, compression: "zstd" });
  const made: [path: string, bytes: Uint8Array][] = [
    ["2026-01-02/drive-1.mcap", whole],
    [
      "2026-01-02/drive-2.mcap",
      await makeMcap({ startNs: START_NS + MINUTE_NS, durationSeconds: 15, compression: "lz4" }),
    ],
    [
      "2026-01-02/dock.mcap",
      await makeMcap({ startNs: START_NS + 3n * MINUTE_NS, durationSeconds: 8, compression: "" }),
    ],
    ["2026-01-02/arm.bag", await makeBag({ startNs: START_NS + 4n * MINUTE_NS, durationSeconds: 10 })],
    [
      "2026-01-02/power-cut.mcap",
      (await makeMcap({ startNs: START_NS + 5n * MINUTE_NS, durationSeconds: 12 })).slice(0, -90_000),
    ],
  ];
  await mkdir(join(storageRoot, "2026-01-02"), { recursive: true });
  for (const [path, bytes] of made) await writeFile(join(storageRoot, path), bytes);
  return [...made.map(([path]) => path), ...(await copyGiven(storageRoot, files))];
}

async function copyGiven(storageRoot: string, files: readonly string[]): Promise<string[]> {
  if (files.length > 0) await mkdir(join(storageRoot, "yours"), { recursive: true });
  const copied: string[] = [];
  for (const file of files) {
    const path = join("yours", basename(file));
    if (!/\.(mcap|bag)$/.test(file)) say(`${file} is neither .mcap nor .bag: the agent ignores it`);
    else if (copied.includes(path)) say(`${file}: there is a ${path} already; left out`);
    else copied.push(path);
    await copyFile(file, join(storageRoot, path));
  }
  return copied;
}
