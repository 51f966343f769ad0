import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import type { TopicDigest } from "@downlink/recordings/testing";
import type { Job, Measured, Task } from "./child.ts";

const run = promisify(execFile);

export async function measureChild(job: Job): Promise<Measured> {
  return (await runChild(job)) as Measured;
}

/** Digests a written file by topic, with an independent reader. */
export async function digestByChild(path: string): Promise<Record<string, TopicDigest>> {
  return (await runChild({ what: "digest", from: path, to: "", compression: "" })) as Record<string, TopicDigest>;
}

/** Makes the verified index beside a recording, as an import does. */
export async function indexByChild(path: string): Promise<void> {
  const { state } = (await runChild({ what: "index", from: path, to: "", compression: "" })) as { state: string };
  if (state !== "finished") throw new Error(`${path} is ${state}`);
}

async function runChild(job: Job): Promise<unknown> {
  const { stdout } = await run(process.execPath, [join(import.meta.dirname, "child.ts"), JSON.stringify(job)]);
  return JSON.parse(stdout);
}

/** Further figures of the reference in C++. */
export interface PeerMeasured extends Measured {
  messages: number;
  /** How it read: by chunks, or single messages by the message indexes of an uncompressed file. */
  wholeChunks: number;
  positionalReads: number;
}

/**
 * How the reference in C++ reads an uncompressed file: by chunks as the library for C++ does, by message indexes, or in the way that it
 * considers faster.
 */
export type PeerReads = "chunk" | "index" | "auto";

/** Measures the reference in C++, from the beginning of its `main`. */
export async function measurePeer(program: string, task: Task, reads: PeerReads = "auto"): Promise<PeerMeasured> {
  const { topics = [], startNs, endNs } = task;
  const { stdout } = await run(program, [
    ...["--from", task.from, "--to", task.to, "--compression", task.compression || "none"],
    ...["--read", reads],
    ...(topics.length > 0 ? ["--topics", topics.join(",")] : []),
    ...(startNs === undefined ? [] : ["--start", startNs]),
    ...(endNs === undefined ? [] : ["--end", endNs]),
  ]);
  const measured = JSON.parse(stdout) as Omit<PeerMeasured, "firstByteMs" | "endsMs" | "readBytes">;
  return { firstByteMs: 0, endsMs: [], readBytes: Number.NaN, ...measured };
}
