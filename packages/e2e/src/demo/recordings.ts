import { copyFile, mkdir, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { recordingExtensions } from "@downlink/recordings";
import { makeBag, makeMcap, type TopicSpec } from "@downlink/recordings/testing";
import { say } from "./say.ts";

const MINUTE_NS = 60_000_000_000n;
/** The first recording begins so long before the end of the last. */
const MINUTES = 6n;

export interface RobotFolder {
  readonly storageRoot: string;
  /** Files of the caller. */
  readonly files: readonly string[];
  readonly topics: readonly TopicSpec[];
  /** The time at which the last recording has ended. */
  readonly endNs: bigint;
}

/** Fills a robot's folder with four recordings, one that was cut off, and the files of the caller. Returns their paths in the folder. */
export async function writeRecordings({ storageRoot, files, topics, endNs }: RobotFolder): Promise<string[]> {
  const firstNs = endNs - MINUTES * MINUTE_NS;
  const day = new Date(Number(firstNs / 1_000_000n)).toISOString().slice(0, 10);
  const after = (minutes: bigint) => ({ topics, startNs: firstNs + minutes * MINUTE_NS });
  const cut = await makeMcap({ ...after(5n), durationSeconds: 12 });
  const made: [path: string, bytes: Uint8Array][] = [
    [`${day}/drive-1.mcap`, await makeMcap({ ...after(0n), durationSeconds: 20, compression: "zstd" })],
    [`${day}/drive-2.mcap`, await makeMcap({ ...after(1n), durationSeconds: 15, compression: "lz4" })],
    [`${day}/dock.mcap`, await makeMcap({ ...after(3n), durationSeconds: 8, compression: "" })],
    [`${day}/arm.bag`, await makeBag({ startNs: firstNs + 4n * MINUTE_NS, durationSeconds: 10 })],
    [`${day}/power-cut.mcap`, cut.slice(0, -90_000)],
  ];
  await mkdir(join(storageRoot, day), { recursive: true });
  for (const [path, bytes] of made) await writeFile(join(storageRoot, path), bytes);
  return [...made.map(([path]) => path), ...(await copyGiven(storageRoot, files))];
}

async function copyGiven(storageRoot: string, files: readonly string[]): Promise<string[]> {
  if (files.length > 0) await mkdir(join(storageRoot, "yours"), { recursive: true });
  const copied: string[] = [];
  for (const file of files) {
    const path = join("yours", basename(file));
    if (!recordingExtensions.some((extension) => file.endsWith(extension)))
      say(`${file} is neither ${recordingExtensions.join(" nor ")}: the agent ignores it`);
    else if (copied.includes(path)) say(`${file}: there is a ${path} already; left out`);
    else copied.push(path);
    await copyFile(file, join(storageRoot, path));
  }
  return copied;
}
