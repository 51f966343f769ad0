import { styleText } from "node:util";
import cliProgress from "cli-progress";
import { fileStates } from "../inventory/file-state.ts";
import type { StatusDocument } from "./status-schema.ts";
import { fit, formatBytes, formatDuration } from "./text.ts";

export interface RenderOptions {
  readonly nowMs: number;
  readonly columns: number;
  readonly isColored: boolean;
}

const MAX_TRANSFERS = 4;
const MAX_PROBLEMS = 3;
const LABEL_WIDTH = 12;
const BAR_WIDTH = 16;

/** The status as one screen of at most 24 lines. */
export function renderStatus(status: StatusDocument, options: RenderOptions): string {
  const lines = [
    headline(status, options),
    labelled("Device", deviceText(status), options),
    labelled("Cloud", cloudText(status, options), options),
    labelled("Storage", storageText(status, options), options),
    labelled("Files", filesText(status), options),
    ...(status.health === "not running" ? howToStart(status, options) : []),
    ...transferLines(status, options),
    ...problemLines(status, options),
  ];
  return `${lines.join("\n")}\n`;
}

const healthColors = { healthy: "green", degraded: "yellow", "not running": "red" } as const;

function headline({ health, agent }: StatusDocument, { nowMs, isColored }: RenderOptions): string {
  const shown = isColored ? styleText(healthColors[health], health, { validateStream: false }) : health;
  const since = agent.startedAt === null ? "" : `, pid ${agent.pid}, up ${age(agent.startedAt, nowMs)}`;
  return `Downlink agent ${agent.version}: ${shown}${since}`;
}

function labelled(label: string, text: string, { columns }: RenderOptions): string {
  return `${label.padEnd(LABEL_WIDTH)}${fit(text, columns - LABEL_WIDTH)}`;
}

function deviceText({ device }: StatusDocument): string {
  if (device.id === null) return "not known yet";
  return `${device.name ?? "?"} (${device.id}) in project ${device.projectId ?? "?"}`;
}

function cloudText({ apiUrl, connection }: StatusDocument, { nowMs }: RenderOptions): string {
  if (apiUrl === null) return "not configured";
  if (connection.state === "none") return apiUrl;
  const skewMs = connection.clockSkewMs ?? 0;
  const skew =
    Math.abs(skewMs) >= 2000
      ? `, clock ${formatDuration(Math.abs(skewMs) / 1000)} ${skewMs > 0 ? "behind" : "ahead"}`
      : "";
  return `${connection.state} for ${age(connection.since, nowMs)}${skew}, ${apiUrl}`;
}

function storageText({ storage }: StatusDocument, { nowMs }: RenderOptions): string {
  if (storage.root === null) return "not configured";
  if (storage.isPresent === false) return `missing: ${storage.root}`;
  const free =
    storage.freeBytes === null
      ? ""
      : `${formatBytes(storage.freeBytes)} of ${formatBytes(storage.totalBytes ?? 0)} free, `;
  const scanned = storage.lastScanAt === null ? "" : `scanned ${age(storage.lastScanAt, nowMs)} ago, `;
  return `${free}${scanned}${storage.root}`;
}

function filesText({ files }: StatusDocument): string {
  const counts = fileStates.filter((state) => files[state]).map((state) => `${files[state]} ${state}`);
  return counts.length === 0 ? "none" : counts.join(", ");
}

function howToStart({ stateDir }: StatusDocument, options: RenderOptions): string[] {
  return [
    "",
    fit(`No agent runs with ${stateDir}; the above is what it last knew.`, options.columns),
    "Start it with `agent run`, or `systemctl start downlink-agent` where it is a service.",
  ];
}

function transferLines({ transfers, files }: StatusDocument, options: RenderOptions): string[] {
  if (transfers.length === 0) return [];
  const waiting = files.requested ? `, ${files.requested} waiting` : "";
  const shown = transfers.slice(0, MAX_TRANSFERS).map((transfer) => transferLine(transfer, options));
  const more = transfers.length > shown.length ? [`  and ${transfers.length - shown.length} more`] : [];
  return ["", `Uploads     ${transfers.length} running${waiting}`, ...shown, ...more];
}

function transferLine(transfer: StatusDocument["transfers"][number], { columns }: RenderOptions): string {
  const done = transfer.sizeBytes === 0 ? 1 : Math.min(1, transfer.sentBytes / transfer.sizeBytes);
  const bar = cliProgress.Format.BarFormat(done, {
    barsize: BAR_WIDTH,
    barCompleteString: "█".repeat(BAR_WIDTH),
    barIncompleteString: "░".repeat(BAR_WIDTH),
    barGlue: "",
  });
  const percent = `${Math.floor(done * 100)} %`.padStart(6);
  const rate = `${formatBytes(transfer.bytesPerSecond)}/s`.padStart(11);
  const left = (transfer.secondsLeft === null ? "stalled" : formatDuration(transfer.secondsLeft)).padStart(8);
  const figures = `${bar}${percent}${rate}${left}`;
  const width = columns - figures.length - 4;
  return `  ${fit(transfer.path, width).padEnd(width)}  ${figures}`;
}

function problemLines({ problems }: StatusDocument, options: RenderOptions): string[] {
  if (problems.length === 0) return [];
  const shown = problems
    .slice(0, MAX_PROBLEMS)
    .flatMap(({ code, title, detail, fix, since }) => [
      fit(`  ${code}, ${age(since, options.nowMs)}: ${title}`, options.columns),
      fit(`    ${detail}`, options.columns),
      fit(`    → ${fix}`, options.columns),
    ]);
  const more = problems.length > MAX_PROBLEMS ? [`  and ${problems.length - MAX_PROBLEMS} more; see --json`] : [];
  return ["", "Problems", ...shown, ...more];
}

function age(time: string | null, nowMs: number): string {
  return time === null ? "?" : formatDuration(Math.max(0, (nowMs - Date.parse(time)) / 1000));
}
