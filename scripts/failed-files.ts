import type { EventEmitter } from "node:events";
import { appendFileSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { inspect } from "node:util";

export interface FailedTest {
  readonly file: string;
  readonly title: string;
  readonly error: unknown;
}

interface Failure {
  readonly name: string;
  readonly file?: string;
  readonly details: { readonly error: { readonly failureType?: unknown; readonly cause?: unknown } };
}

/** With more failed files than this, the change is wrong, and nothing is run again. */
const MOST_AGAIN = 10;

/** Notes which tests failed. A suite, or a file, that failed because of its tests is not one of them. */
export function noteFailures(events: EventEmitter): readonly FailedTest[] {
  const failed: FailedTest[] = [];
  events.on("test:fail", ({ name, file, details: { error } }: Failure) => {
    if (error.failureType === "subtestsFailed") return;
    failed.push({ file: file ?? name, title: name, error: error.cause ?? error });
  });
  return failed;
}

/** Returns the files to run once more, alone: those with failed tests, or none where so many failed that it was no accident. */
export function filesToRunAgain(failed: readonly FailedTest[]): string[] {
  const files = [...new Set(failed.map(({ file }) => file))];
  return files.length > MOST_AGAIN ? [] : files;
}

/** Returns the tests that failed in the first run, and whose files passed in the second. */
export function findFlaky(first: readonly FailedTest[], second: readonly FailedTest[]): FailedTest[] {
  return first.filter(({ file }) => !second.some((again) => again.file === file));
}

/** Adds what the first run said of these tests to the log, so that somebody can find out whether the product or the test is wrong. */
export function logFlaky(path: string, flaky: readonly FailedTest[]): void {
  mkdirSync(dirname(path), { recursive: true });
  const at = new Date().toISOString();
  for (const { file, title, error } of flaky) appendFileSync(path, `${at} ${file}: ${title}\n${inspect(error)}\n\n`);
}
