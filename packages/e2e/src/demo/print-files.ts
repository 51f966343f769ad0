import type { Client } from "@downlink/client";
import { api, formatTimestamp, type Recording } from "@downlink/protocol";
import { makeTable } from "../terminal/make-table.ts";
import { say } from "./say.ts";
import type { Found } from "./wait-for-files.ts";

const WIDTH = 72;
const MS_PER_NS = 1_000_000n;

/** Prints every file with its span, size, topics and status; files that are no recording with their reason. */
export async function printFiles(client: Client, { recordings, others }: Found): Promise<void> {
  const table = makeTable(["device", "path", "start (UTC)", "span", "size", "topics", "status"]);
  for (const recording of recordings) {
    const topics = await client.call(api.topics.list, { recordingId: recording.id });
    const { device, path, start, size, importStatus } = recording;
    table.push([device?.name ?? "", path, toText(start), spanOf(recording), sizeOf(size), topics.length, importStatus]);
  }
  for (const { device, path, size, state, salvage } of others)
    table.push([
      device?.name ?? "",
      path,
      salvage ? toText(salvage.start) : "",
      salvage ? spanOf(salvage) : "",
      sizeOf(size),
      "",
      state,
    ]);
  process.stdout.write(`${table.toString()}\n`);
  for (const { path, reason } of others)
    say(`${path}: ${reason ? `${reason.text} (${reason.code})` : "no reason is given"}`);
}

/** Draws the device's time line: one row for each day, an arrow for data that is only on the device, a block for imported data. */
export async function drawCoverage(client: Client, deviceId: string): Promise<void> {
  const window = { start: 0n, end: 4_000_000_000_000_000_000n };
  const ranges = await client.call(api.coverage.list, { ...window, deviceId, includeEdgeRecordings: true });
  for (const [day, inDay] of Map.groupBy(ranges, (range) => toText(range.start).slice(0, 10))) {
    const first = Math.min(...inDay.map(({ start }) => toMs(start)));
    const last = Math.max(...inDay.map(({ end }) => toMs(end)), first + 1);
    const line = Array<string>(WIDTH).fill("·");
    for (const { start, end, status } of inDay) {
      const from = Math.floor(((toMs(start) - first) / (last - first)) * (WIDTH - 1));
      const to = Math.floor(((toMs(end) - first) / (last - first)) * (WIDTH - 1));
      line.fill(status === "imported" ? "█" : "░", from, to + 1);
    }
    say(`${day}  ${timeOf(first)} ${line.join("")} ${timeOf(last)}`);
  }
  say("░ on the robot   █ imported   · nothing recorded");
}

function toMs(timeNs: bigint): number {
  return Number(timeNs / MS_PER_NS);
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString().slice(11, 19);
}

function toText(timeNs: bigint): string {
  return formatTimestamp((timeNs / 1_000_000_000n) * 1_000_000_000n)
    .replace("T", " ")
    .replace("Z", "");
}

function spanOf({ start, end }: Pick<Recording, "start" | "end">): string {
  return `${(Number(end - start) / 1e9).toFixed(2)} s`;
}

function sizeOf(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
