import { formatBytes, formatDuration } from "@downlink/terminal/amounts";
import { padToWidth } from "@downlink/terminal/display-width";
import { fit } from "@downlink/terminal/fit";
import cliProgress from "cli-progress";
import { asPrinted, clockTime, type Layout, labelled, paint, type RenderOptions } from "../text/screen.ts";
import type { StatusDocument } from "./status-schema.ts";

const MAX_TRANSFERS = 4;
const WIDEST_BAR = 16;
/** The width of percent, rate and time left, with the margins. */
const FIGURES_WIDTH = 6 + 11 + 8 + 4;
const LONGEST_SECONDS = 99 * 86_400;
/** Names of files need this width; a narrow screen has a shorter bar, or none. */
const PATH_WIDTH = 24;

/** Shows running uploads, waiting ones, and what limits them. */
export function renderUploads(status: StatusDocument, options: Layout): string[] {
  if (status.health === "not running") return renderPause(status, options);
  const { transfers } = status;
  const shown = transfers.slice(0, options.most ?? MAX_TRANSFERS).map((transfer) => transferLine(transfer, options));
  const more = transfers.length > shown.length ? [`  and ${transfers.length - shown.length} more`] : [];
  return ["", ...labelled("Uploads", uploadsText(status, options), options), ...shown, ...more];
}

/** A pause outlasts the agent, so it is shown without one too. */
function renderPause({ pause: { by, until } }: StatusDocument, options: Layout): string[] {
  if (by === null) return [];
  const end = until === null ? asPrinted("until `agent resume`", options) : `until ${clockTime(until, options.nowMs)}`;
  return ["", ...labelled("Uploads", `paused: by ${by}, ${end}`, options)];
}

function uploadsText({ transfers, files, retries, throttle }: StatusDocument, options: RenderOptions): string {
  const [retry] = retries;
  const retrySeconds = retry ? Math.max(0, (Date.parse(retry.nextTryAt) - options.nowMs) / 1000) : 0;
  const parts = [
    transfers.length > 0 ? `${transfers.length} running` : undefined,
    files.requested ? `${files.requested} waiting` : undefined,
    retry ? `${retries.length} to be tried again, the first in ${formatDuration(retrySeconds)}` : undefined,
  ].filter((part) => part !== undefined);
  const work = parts.length === 0 ? "none" : parts.join(", ");
  const hold = throttleText(throttle, options.nowMs);
  return hold === undefined ? work : `${work}; ${hold}`;
}

function throttleText({ isPaused, text, until }: StatusDocument["throttle"], nowMs: number): string | undefined {
  if (text === null) return undefined;
  return `${isPaused ? "paused: " : ""}${text}${until === null ? "" : ` until ${clockTime(until, nowMs)}`}`;
}

function transferLine(transfer: StatusDocument["transfers"][number], options: RenderOptions): string {
  const { columns } = options;
  const done = transfer.sizeBytes === 0 ? 1 : Math.min(1, transfer.sentBytes / transfer.sizeBytes);
  const barWidth = Math.max(0, Math.min(WIDEST_BAR, columns - FIGURES_WIDTH - PATH_WIDTH));
  const percent = `${Math.floor(done * 100)} %`.padStart(6);
  const rate = `${formatBytes(transfer.bytesPerSecond)}/s`.padStart(11);
  const left = timeLeft(transfer.secondsLeft).padStart(8);
  const pathWidth = Math.max(1, columns - FIGURES_WIDTH - barWidth);
  const bar = paint("green", barOf(done, barWidth), options);
  return `  ${padToWidth(fit(transfer.path, pathWidth), pathWidth)}  ${bar}${percent}${rate}${left}`;
}

function timeLeft(seconds: number | null): string {
  if (seconds === null) return "stalled";
  return seconds < LONGEST_SECONDS ? formatDuration(seconds) : "> 99 d";
}

function barOf(done: number, barsize: number): string {
  return cliProgress.Format.BarFormat(done, {
    barsize,
    barCompleteString: "█".repeat(barsize),
    barIncompleteString: "░".repeat(barsize),
    barGlue: "",
  });
}
