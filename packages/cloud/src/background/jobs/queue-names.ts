// While one version replaces another, processes of both take jobs. An older process must not take a job that destroys something without
// looking whether it may. So where a release changes what such a job has to obey, its number here is raised: its jobs go to a queue that no
// older process knows, and those of older processes are still done.

import type { JobName } from "./queue.ts";

const numbers: Readonly<Record<JobName, number>> = {
  ingest: 1,
  "ingest-large": 1,
  "index-recording": 1,
  "read-stored": 1,
  salvage: 1,
  "prepare-view": 1,
  "build-training-set": 1,
  "make-thumbnails": 1,
  "look-at-object": 1,
  "list-bucket": 1,
  "list-buckets": 1,
  "judge-listed": 1,
  "remove-object": 2, // since 2 nothing is removed while database and store may disagree, or a backup is made
  reconcile: 2, // the same
  sweep: 2, // the same
  scrub: 1,
  "back-up": 1,
  "walk-store": 1,
  heal: 1,
};

export const jobNames = Object.keys(numbers) as readonly JobName[];

/** Returns the queue into which this version puts its jobs. */
export function queueOf(name: JobName): string {
  return toNumberedName(name, numbers[name]);
}

/** Returns the queues into which former versions put such jobs. */
export function formerQueuesOf(name: JobName): string[] {
  return Array.from({ length: numbers[name] - 1 }, (_, at) => toNumberedName(name, at + 1));
}

function toNumberedName(name: JobName, number: number): string {
  return number === 1 ? name : `${name}.${number}`;
}
