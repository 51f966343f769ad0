import { parentPort } from "node:worker_threads";
import type { Job, JobResults } from "./jobs.ts";
import { createJobRunner, toChange } from "./run-job.ts";
import { type Answer, createReading, type Question, transferOf } from "./thread-messages.ts";

// This is the entry of a worker thread, which takes jobs one by one and answers each with its result or error.

/** `changed` says that the recording is not what it was. */
export type JobAnswer =
  | { readonly result: JobResults[Job["kind"]] }
  | { readonly changed: string }
  | { readonly error: Error }
  | Question;

/** `stop` is not 0 once no caller wants the result any more. */
export type ToWorker = { readonly job: Job; readonly stop: Int32Array } | Answer;

const port = parentPort!;
const reading = createReading((question) => port.postMessage(question));
const runJob = createJobRunner(reading.hold);

port.on("message", async (message: ToWorker) => {
  if (!("job" in message)) return reading.answer(message);
  const answer = await answerTo(message.job, message.stop);
  port.postMessage(answer, transferOf(answer));
});

async function answerTo(job: Job, stop: Int32Array): Promise<JobAnswer> {
  try {
    return { result: await runJob(job, reading.of(job, stop)) };
  } catch (error) {
    const changed = toChange(error);
    if (changed !== undefined) return { changed };
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }
}
