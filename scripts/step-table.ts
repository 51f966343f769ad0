export interface StepCounts {
  /** As the report of the tests counts them; undefined for a step that is no run of tests. */
  readonly counts: { readonly passed: number; readonly failed: number; readonly skipped: number } | undefined;
  /** The tests that failed first, and passed when their file was run again: `FILE: title`. */
  readonly flaky: readonly string[];
}

export interface StepResult extends StepCounts {
  readonly name: string;
  /** The exit code. */
  readonly code: number;
  readonly isInterrupted: boolean;
  readonly tookMs: number;
}

/** Reads the counts from what a run of tests has printed. */
export function readCounts(printed: string): StepCounts {
  const found = [...printed.matchAll(/^(\d+) passed, (\d+) failed, (\d+) skipped(?:, \d+ flaky)?$/gm)].at(-1);
  const [passed, failed, skipped] = found ? found.slice(1).map(Number) : [];
  const flaky = Array.from(printed.matchAll(/^flaky: (.*)$/gm), ([, title]) => title!);
  return { counts: found && { passed: passed!, failed: failed!, skipped: skipped! }, flaky };
}

/** Lists the steps: what, how it ended, how many tests, how many of them were flaky, how long; and the flaky ones by name. */
export function toTable(results: readonly StepResult[]): string {
  const rows = results.map(({ name, code, counts, flaky, tookMs }) => [
    name,
    code === 0 ? "passed" : "FAILED",
    ...(counts ? [counts.passed, counts.failed, counts.skipped, flaky.length].map(String) : ["", "", "", ""]),
    `${Math.round(tookMs / 1000)} s`,
  ]);
  const head = ["step", "", "passed", "failed", "skipped", "flaky", "took"];
  const widths = head.map((_, at) => Math.max(...[head, ...rows].map((row) => row[at]!.length)));
  const line = (row: readonly string[]) =>
    row.map((cell, at) => (at < 2 ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!))).join("  ");
  const flaky = results.flatMap((result) => result.flaky.map((title) => `flaky: ${title}`));
  return [line(head), ...rows.map(line), ...(flaky.length > 0 ? ["", ...flaky] : [])].join("\n");
}
