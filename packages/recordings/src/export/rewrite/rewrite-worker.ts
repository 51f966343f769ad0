// The entry of a worker thread: takes jobs one by one, and answers each with its result or error.
import { parentPort } from "node:worker_threads";
import { createJobRunner, type Job, type JobResults, toChange } from "./run-job.ts";
import { transferOf } from "./transfer.ts";

/** `changed`: the recording is not what it was. */
export type JobAnswer = { result: JobResults[Job["kind"]] } | { changed: string } | { error: Error };

const port = parentPort!;
const runJob = createJobRunner();

port.on("message", async (job: Job) => {
  const answer = await answerTo(job);
  port.postMessage(answer, transferOf(answer));
});

async function answerTo(job: Job): Promise<JobAnswer> {
  try {
    return { result: await runJob(job) };
  } catch (error) {
    const changed = toChange(error);
    if (changed !== undefined) return { changed };
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }
}
