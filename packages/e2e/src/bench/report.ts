import { cpus } from "node:os";
import { makeTable } from "../terminal/make-table.ts";
import { BUSY_DEVICE_ID } from "./dataset.ts";
import { whyExpected } from "./expected-scans.ts";
import { LIMITS, type Measured, REFERENCE } from "./measure.ts";
import type { TableScan } from "./query-plans.ts";

const TARGET_MS = 100;

export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Prints a row for each filter of each list: its slowest order, by page size. */
export function reportTimes(measured: readonly Measured[], referenceMs: number): void {
  const table = makeTable([
    "list",
    "filter",
    ...LIMITS.flatMap((limit) => [`${limit}: ms`, "ratio", "rows", "slowest order"]),
  ]);
  for (const [list, calls] of Map.groupBy(measured, ({ list }) => list)) {
    const cells = LIMITS.flatMap((limit) =>
      cellsOf(
        calls.filter((call) => call.limit === limit),
        referenceMs,
      ),
    );
    table.push([nameOf(list.path), list.filter, ...cells]);
  }
  say(table.toString());
  const slow = measured.filter(({ medianMs }) => medianMs >= TARGET_MS);
  say(
    `${measured.length} calls; ! marks a median of ${TARGET_MS} ms or more: ${slow.length} calls, of which by page size`,
  );
  for (const limit of LIMITS) say(`  limit=${limit}: ${slow.filter((call) => call.limit === limit).length}`);
  for (const { list, order, limit, medianMs } of slow.filter((call) => call.limit === LIMITS[0]))
    say(`  ! ${nameOf(list.path)}: ${list.filter}, ${order || "own order"}, limit=${limit}: ${medianMs.toFixed(0)} ms`);
  say(
    `ratio: to GET ${REFERENCE} in the same run, ${referenceMs.toFixed(1)} ms; on ${cpus().length} × ${cpus()[0]?.model}`,
  );
}

function cellsOf(calls: readonly Measured[], referenceMs: number): (string | number)[] {
  const slowest = calls.reduce((one, other) => (other.medianMs > one.medianMs ? other : one));
  const mark = slowest.medianMs >= TARGET_MS ? " !" : "";
  const ratio = (slowest.medianMs / referenceMs).toFixed(0);
  return [`${slowest.medianMs.toFixed(1)}${mark}`, ratio, slowest.rows, slowest.order];
}

/** Returns the number of unexpected scans. */
export function reportScans(scans: readonly TableScan[]): number {
  for (const [because, found] of Map.groupBy(scans, whyExpected))
    if (because !== undefined) say(`${found.length} whole scans are expected: ${because}`);
  const unexpected = scans.filter((scan) => whyExpected(scan) === undefined);
  for (const [what, found] of Map.groupBy(unexpected, nameOfScan)) {
    say(
      `${what}: ${found.length} statements that nobody expected to read it whole, such as of GET ${found[0]!.call.target}`,
    );
    say(`  ${found[0]!.sql.replace(/\s+/g, " ")}`);
  }
  say(
    unexpected.length === 0
      ? "no page reads a whole large table unexpectedly"
      : `${unexpected.length} unexpected scans`,
  );
  return unexpected.length;
}

function nameOfScan({ call, table }: TableScan): string {
  return `${table}, ${nameOf(call.list.path)}, ${call.list.filter}`;
}

function nameOf(path: string): string {
  if (!path.includes("property-time-intervals")) return path.replace("/v1/", "");
  return `property history, ${path.includes(BUSY_DEVICE_ID) ? "busy" : "quiet"} device`;
}
