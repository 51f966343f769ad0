import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import type { TopicDigest } from "@downlink/recordings/testing";
import type { Job, Measured, Task } from "./child.ts";

const run = promisify(execFile);

export async function measureChild(job: Job): Promise<Measured> {
  return (await runChild(job)) as Measured;
}

/** What a written file holds, by topic; not by us. */
export async function digestByChild(path: string): Promise<Record<string, TopicDigest>> {
  return (await runChild({ what: "digest", from: path, to: "", compression: "" })) as Record<string, TopicDigest>;
}

async function runChild(job: Job): Promise<unknown> {
  const { stdout } = await run(process.execPath, [join(import.meta.dirname, "child.ts"), JSON.stringify(job)]);
  return JSON.parse(stdout);
}

/** What the reference in C++ tells besides. */
export interface PeerMeasured extends Measured {
  messages: number;
  /** How it read: by chunks, or single messages by the message indexes of an uncompressed file. */
  wholeChunks: number;
  positionalReads: number;
}

/** The same by the reference in C++, timed from the beginning of its `main`. */
export async function measurePeer(program: string, task: Task): Promise<PeerMeasured> {
  const { topics = [], startNs, endNs } = task;
  const { stdout } = await run(program, [
    ...["--from", task.from, "--to", task.to, "--compression", task.compression || "none"],
    ...(topics.length > 0 ? ["--topics", topics.join(",")] : []),
    ...(startNs === undefined ? [] : ["--start", startNs]),
    ...(endNs === undefined ? [] : ["--end", endNs]),
  ]);
  return { firstByteMs: 0, endsMs: [], ...(JSON.parse(stdout) as Omit<PeerMeasured, "firstByteMs" | "endsMs">) };
}
