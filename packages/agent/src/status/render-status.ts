import { countOf, formatBytes, formatDuration } from "@downlink/terminal/amounts";
import { wrap } from "@downlink/terminal/fit";
import { printableAll } from "@downlink/terminal/printable";
import { fileStates } from "../inventory/file-state.ts";
import { age, asPrinted, type Layout, labelled, paint, type RenderOptions } from "../text/screen.ts";
import { renderDeletions } from "./render-deletions.ts";
import { renderProblems } from "./render-problems.ts";
import { renderUploads } from "./render-uploads.ts";
import type { StatusDocument } from "./status-schema.ts";

const MAX_LINES = 24;
/** Texts get this many lines at first, because a command that is cut is useless. */
const LINES_OF_A_COMMAND = 8;
/** How many lines a text may take, and how many items a list: fewer and fewer, until all fits the screen. */
const rooms = [{ lines: LINES_OF_A_COMMAND }, { lines: 3 }, { lines: 2 }, { lines: 1 }, { lines: 1, most: 2 }];

/** Renders the status as one screen of at most 24 lines. */
export function renderStatus(status: StatusDocument, options: RenderOptions): string {
  const shown = printableAll(status);
  const screens = rooms.map((room) => layOutScreen(shown, { ...options, ...room }));
  const screen = screens.find((lines) => lines.length <= MAX_LINES) ?? screens.at(-1)!;
  return `${screen.join("\n")}\n`;
}

function layOutScreen(status: StatusDocument, layout: Layout): string[] {
  return [
    headline(status, layout),
    ...labelled(status.site.id === null ? "Device" : "Site", ownerText(status), layout),
    ...labelled("Cloud", cloudText(status, layout), layout),
    ...labelled("Storage", storageText(status, layout), layout),
    ...labelled("Files", filesText(status), layout),
    ...filesToLookAt(status, layout),
    ...renderDeletions(status, layout),
    ...(status.health === "not running" ? howToStart(status, layout) : []),
    ...renderUploads(status, layout),
    ...renderProblems(status, layout),
  ];
}

const healthColors = { healthy: "green", degraded: "yellow", "not running": "red" } as const;

function headline({ health, agent }: StatusDocument, options: RenderOptions): string {
  const title = `Downlink agent ${agent.version}: `;
  const since = agent.startedAt === null ? "" : `, pid ${agent.pid}, up ${age(agent.startedAt, options.nowMs)}`;
  const room = Math.max(0, options.columns - title.length - health.length);
  return `${title}${paint(["bold", healthColors[health]], health, options)}${since.length <= room ? since : ""}`;
}

function ownerText({ device, site }: StatusDocument): string {
  if (site.id !== null) return `${site.name ?? "?"} (${site.id})`;
  if (device.id === null) return "not known yet";
  return `${device.name ?? "?"} (${device.id}) in project ${device.projectName ?? device.projectId ?? "?"}`;
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

function storageText({ storage, problems }: StatusDocument, { nowMs }: RenderOptions): string {
  if (storage.root === null) return "not configured";
  const isUnusable = problems.some(({ code }) => code === "StorageUnusable");
  if (storage.isPresent === false) return `${isUnusable ? "cannot be used" : "missing"}: ${storage.root}`;
  const { freeBytes, fullInSeconds, lastScanAt } = storage;
  const usedBytes = usedBytesOf(storage);
  const parts = [
    freeBytes === null || usedBytes === null
      ? undefined
      : `${formatBytes(usedBytes)} used, ${formatBytes(freeBytes)} free`,
    fullInSeconds === null ? undefined : `full in ${formatDuration(fullInSeconds)}`,
    lastScanAt === null ? undefined : `scanned ${age(lastScanAt, nowMs)} ago`,
    storage.root,
  ];
  return parts.filter((part) => part !== undefined).join(", ");
}

/** A running agent may be older than this command, and not say what is used. */
function usedBytesOf(storage: Partial<StatusDocument["storage"]>): number | null {
  const { usedBytes, totalBytes = null, freeBytes = null } = storage;
  if (usedBytes !== undefined) return usedBytes;
  return totalBytes === null || freeBytes === null ? null : totalBytes - freeBytes;
}

function filesText({ files }: StatusDocument): string {
  const counts = fileStates.filter((state) => files[state]).map((state) => `${files[state]} ${state}`);
  return counts.length === 0 ? "none" : counts.join(", ");
}

/** Names files that a person should look at, although the agent itself is well. */
function filesToLookAt({ files: { damaged = 0, failed = 0 } }: StatusDocument, layout: Layout): string[] {
  if (damaged + failed === 0) return [];
  const counts = [
    ...(damaged === 0 ? [] : [countOf(damaged, "damaged file")]),
    ...(failed === 0 ? [] : [countOf(failed, "failed import")]),
  ];
  const room = { width: layout.columns, lines: layout.lines };
  return wrap(`${counts.join(", ")}: ${asPrinted(listing(damaged, failed), layout)}`, room);
}

function listing(damaged: number, failed: number): string {
  if (failed === 0) return "`agent ls --state damaged`";
  return damaged === 0 ? "`agent ls --state failed`" : "`agent ls --state damaged,failed`";
}

function howToStart({ stateDir, apiUrl, storage }: StatusDocument, layout: Layout): string[] {
  const isEnrolled = apiUrl !== null && storage.root !== null;
  const texts = isEnrolled
    ? [
        `No agent runs with ${stateDir}; the above is what it last knew.`,
        "Start it with `agent run`, or as a service: `systemctl start downlink-agent`.",
      ]
    : [
        "This agent is not enrolled, or its settings are in another file: name that one with --config FILE.",
        "Enroll it with `agent enroll`, which says what it needs.",
      ];
  const room = { width: layout.columns, lines: LINES_OF_A_COMMAND };
  return ["", ...texts.flatMap((text) => wrap(asPrinted(text, layout), room))];
}
