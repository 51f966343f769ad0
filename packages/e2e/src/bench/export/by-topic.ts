import assert from "node:assert/strict";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { makeTable } from "../../terminal/make-table.ts";
import { say } from "../report.ts";
import type { Measured } from "./child.ts";
import { digestByChild, indexByChild, measureChild } from "./measure-child.ts";

export const byTopicName = "by topic";

const TOPIC = "/imu";
const MOST_RATIO = 0.1;

interface Setting {
  /** The recording, which has an index, and one by which the threads are warmed up. */
  readonly from: string;
  readonly warmBy: string;
  readonly folder: string;
  readonly runs: number;
}

/** Measures the export of one small topic from the file of that topic, beside the same export from the whole recording. */
export async function measureByTopic({ from, warmBy, folder, runs }: Setting): Promise<void> {
  const to = join(folder, "topics");
  await mkdir(to);
  const split = await measureChild({ what: "split", from, to, compression: "lz4" });
  const ofTopic = join(to, `${TOPIC.slice(1)}.mcap`);
  await indexByChild(ofTopic);
  const job = { what: "export", to: join(folder, "out"), compression: "lz4", topics: [TOPIC], warmBy } as const;
  const whole: Measured[] = [];
  const byTopic: Measured[] = [];
  for (let run = 0; run < runs; run += 1) {
    whole.push(await measureChild({ ...job, from }));
    const digest = await digestByChild(job.to);
    byTopic.push(await measureChild({ ...job, from: ofTopic }));
    assert.deepEqual(await digestByChild(job.to), digest, "not the messages of the export from the whole");
  }
  report({ whole, byTopic, split });
  await rm(to, { recursive: true });
  await rm(job.to);
}

interface Found {
  readonly whole: readonly Measured[];
  readonly byTopic: readonly Measured[];
  readonly split: Measured;
}

/** `!` marks what misses its target. */
function report({ whole, byTopic, split }: Found): void {
  const table = makeTable(["one small topic, zstd to lz4", "from the whole", "from its file", "ratio", "target"]);
  const row = (name: string, key: "ms" | "readBytes" | "cpuMs", unit: number): string[] => {
    const [reference, own] = [medianOf(whole, key), medianOf(byTopic, key)];
    const ratio = own / reference;
    const texts = [(reference / unit).toFixed(3), (own / unit).toFixed(3)];
    return [name, ...texts, ratio.toFixed(3) + (ratio > MOST_RATIO ? " !" : ""), `≤ ${MOST_RATIO}`];
  };
  table.push(row("s", "ms", 1000), row("read: MB", "readBytes", 1e6), row("CPU: s", "cpuMs", 1000));
  say(table.toString());
  const { ms, maxRssBytes } = split;
  say(`all topics were split in ${(ms / 1000).toFixed(1)} s, peak RSS ${(maxRssBytes / 1e6).toFixed(0)} MB`);
}

function medianOf(measured: readonly Measured[], key: "ms" | "readBytes" | "cpuMs"): number {
  const values = measured.map((each) => each[key]).sort((a, b) => a - b);
  return values[values.length >> 1]!;
}
