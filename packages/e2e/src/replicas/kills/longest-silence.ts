// A dead process and a backlog both make an import wait. The difference is whether live workers work meanwhile: while an import's job waits
// in its queue, live workers begin and end other jobs of that queue; while a job is worked on, its worker sends heartbeats. A dead process
// does neither. So the measure is the longest time in which nothing of that kind happened, and not how long the import took.

/** One change of a job in its queue, in the order of time. */
export interface JobStep {
  readonly atMs: number;
  readonly queue: string;
  readonly jobId: string;
  /** The import request that the job is for; undefined if it is for none. */
  readonly requestId: string | undefined;
  readonly kind: "queued" | "begun" | "alive" | "ended";
}

/** An import, from the moment at which its file was stored until it was imported. */
export interface Wait {
  readonly requestId: string;
  readonly fromMs: number;
  readonly untilMs: number;
}

/** Returns the longest time in which no process did anything that the import waited for. */
export function longestSilenceMs({ requestId, fromMs, untilMs }: Wait, steps: readonly JobStep[]): number {
  let [lastMs, longestMs] = [fromMs, 0];
  const hear = (atMs: number) => {
    longestMs = Math.max(longestMs, atMs - lastMs);
    lastMs = Math.max(lastMs, atMs);
  };
  const queuesOfJobs = new Map<string, string>();
  for (const step of steps) {
    if (step.atMs > untilMs) break;
    const isOwn = step.requestId === requestId;
    if (isOwn && step.kind === "queued") queuesOfJobs.set(step.jobId, step.queue);
    else if (isOwn) queuesOfJobs.delete(step.jobId);
    const isProgress = (step.kind === "begun" || step.kind === "ended") && isIn(queuesOfJobs, step.queue);
    if (step.atMs >= fromMs && (isOwn || isProgress)) hear(step.atMs);
  }
  hear(untilMs);
  return longestMs;
}

/** Tells whether a job of the import waits in that queue. */
function isIn(queuesOfJobs: ReadonlyMap<string, string>, queue: string): boolean {
  return [...queuesOfJobs.values()].includes(queue);
}
