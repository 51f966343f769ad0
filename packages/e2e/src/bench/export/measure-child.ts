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

/** Makes the verified index beside a recording, as an import does. */
export async function indexByChild(path: string): Promise<void> {
  const { state } = (await runChild({ what: "index", from: path, to: "", compression: "" })) as { state: string };
  if (state !== "finished") throw new Error(`${path} is ${state}`);
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

/** How the reference in C++ reads an uncompressed file: chunks as the library for C++ does, by message indexes, or what it thinks faster. */
export type PeerReads = "chunk" | "index" | "auto";

/** The same by the reference in C++, timed from the beginning of its `main`. */
export async function measurePeer(program: string, task: Task, reads: PeerReads = "auto"): Promise<PeerMeasured> {
  const { topics = [], startNs, endNs } = task;
  const { stdout } = await run(program, [
    ...["--from", task.from, "--to", task.to, "--compression", task.compression || "none"],
    ...["--read", reads],
    ...(topics.length > 0 ? ["--topics", topics.join(",")] : []),
    ...(startNs === undefined ? [] : ["--start", startNs]),
    ...(endNs === undefined ? [] : ["--end", endNs]),
  ]);
  return { firstByteMs: 0, endsMs: [], ...(JSON.parse(stdout) as Omit<PeerMeasured, "firstByteMs" | "endsMs">) };
}
