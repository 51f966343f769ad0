// The entry of a worker thread: takes jobs one by one, and answers each with its result or error.
import { parentPort } from "node:worker_threads";
import { createDecompressor } from "../../codecs/decompress.ts";
import { type Job, type JobResults, runJob } from "./run-job.ts";
import { transferOf } from "./transfer.ts";

export type JobAnswer = { result: JobResults[Job["kind"]] } | { error: Error };

const port = parentPort!;
const decompress = createDecompressor({ isBlocking: true });

port.on("message", async (job: Job) => {
  const answer = await answerTo(job);
  port.postMessage(answer, transferOf(answer));
});

async function answerTo(job: Job): Promise<JobAnswer> {
  try {
    return { result: await runJob(job, decompress) };
  } catch (error) {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }
}
