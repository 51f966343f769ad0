import type { EventEmitter } from "node:events";
import { inspect } from "node:util";

/** A test that takes longer is named at the end, so that it becomes cheaper or moves to the long ones. */
const LONG_MS = 2000;
const MOST_LONG = 40;
const PROGRESS_MS = 500;
/** So much of what a process wrote last is printed if it ends before its tests do. */
const LAST_WORDS = 4000;

interface Ended {
  readonly name: string;
  readonly nesting: number;
  readonly file?: string;
  readonly skip?: string | boolean;
  readonly todo?: string | boolean;
  readonly details: { readonly duration_ms: number; readonly type?: string; readonly error?: Failure };
}

interface Failure {
  readonly failureType?: unknown;
  readonly cause?: unknown;
  /** How a process ended that did not say of a test that it failed. */
  readonly exitCode?: number | null;
  readonly signal?: string | null;
}

interface Written {
  readonly file: string;
  readonly message: string;
}

export interface TestReport {
  /** Counts what a run reports, and prints each failure at once. */
  watch(events: EventEmitter): void;
  /** So many failures count as flaky, because their files passed when they were run again. */
  excuse(count: number): void;
  /** Prints what took long, and the line with the counts. */
  end(): void;
}

interface Output {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** Reports a run in few lines: progress on a terminal, failures, what took long, and the counts. */
export function reportTests(out: Output, shorten: (file: string) => string): TestReport {
  const counts = { passed: 0, failed: 0, skipped: 0, flaky: 0 };
  const long: { readonly title: string; readonly ms: number }[] = [];
  const startedMs = performance.now();
  let shownMs = Number.NEGATIVE_INFINITY;
  const say = (text: string) => out.write(`${out.isTTY ? "\r\x1b[K" : ""}${text}\n`);
  const show = () => {
    if (!out.isTTY || performance.now() - shownMs < PROGRESS_MS) return;
    shownMs = performance.now();
    const seconds = Math.round((shownMs - startedMs) / 1000);
    out.write(`\r\x1b[K${counts.passed} passed, ${counts.failed} failed, ${seconds} s`);
  };
  const onPass = (test: Ended) => {
    if (isSuite(test)) return;
    if (test.skip !== undefined) {
      counts.skipped += 1;
      if (typeof test.skip === "string") say(`skipped: ${test.name}: ${test.skip}`);
    } else counts.passed += 1;
    const { duration_ms: ms } = test.details;
    if (ms > LONG_MS) long.push({ title: `${shorten(test.file ?? "")}: ${test.name}`, ms });
    show();
  };
  const lastWords = new Map<string, string>();
  const onWrite = ({ file, message }: Written) =>
    void lastWords.set(file, ((lastWords.get(file) ?? "") + message).slice(-LAST_WORDS));
  const onFail = (test: Ended) => {
    const { error } = test.details;
    if (error?.failureType === "subtestsFailed") return;
    counts.failed += 1;
    if (error?.exitCode !== undefined) {
      const how = error.signal ? `was ended by ${error.signal}` : `ended with ${error.exitCode}`;
      return say(`✖ ${shorten(test.file ?? "")}: the process ${how}\n${lastWords.get(test.file ?? "") ?? ""}`);
    }
    const kind = error?.failureType === "testCodeFailure" ? "" : ` (${error?.failureType})`;
    say(`✖ ${shorten(test.file ?? "")}: ${test.name}${kind}\n${inspect(error?.cause ?? error)}\n`);
  };
  return {
    watch: (events) => void events.on("test:pass", onPass).on("test:fail", onFail).on("test:stderr", onWrite),
    excuse(count) {
      counts.failed -= count;
      counts.flaky += count;
    },
    end() {
      const longest = long.sort((a, b) => b.ms - a.ms).slice(0, MOST_LONG);
      if (longest.length > 0) say(`\ntests of more than ${LONG_MS / 1000} s, the longest first:`);
      for (const { title, ms } of longest) say(`  ${(ms / 1000).toFixed(1).padStart(6)} s  ${title}`);
      say(`\n${toLine(counts)}`);
    },
  };
}

function toLine({ passed, failed, skipped, flaky }: Record<"passed" | "failed" | "skipped" | "flaky", number>): string {
  return `${passed} passed, ${failed} failed, ${skipped} skipped${flaky > 0 ? `, ${flaky} flaky` : ""}`;
}

/** The tests around those of a file that shares a process, and around those of a suite, are none themselves. */
function isSuite({ details, name }: Ended): boolean {
  return details.type === "suite" || /^packages\/.*\.(test|slow)\.ts$|^scripts\/.*\.test\.ts$/.test(name);
}
