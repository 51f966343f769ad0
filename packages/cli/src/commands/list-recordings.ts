import { api, formatTimestamp, ImportStatus, NEXT_CURSOR_HEADER, type Recording } from "@downlink/protocol";
import { formatBytes, formatDuration } from "@downlink/terminal/amounts";
import { fit } from "@downlink/terminal/fit";
import { printable } from "@downlink/terminal/printable";
import { layOut } from "@downlink/terminal/table";
import { UsageError } from "../failures/failures.ts";
import type { Service } from "../login/open-service.ts";
import { readTime } from "./time-flag.ts";
import { readWhole } from "./whole-number.ts";

/** The flags of `dl ls`. */
export interface Listing {
  readonly project?: string;
  readonly device?: string;
  readonly path?: string;
  readonly topic?: string;
  readonly start?: string;
  readonly end?: string;
  readonly status?: string;
  readonly limit: string;
}

interface Page {
  readonly recordings: readonly Recording[];
  readonly isMore: boolean;
}

/** The most that one call lists. */
const PAGE_ROWS = 500;
const MOST = 1_000_000;

/** Lists recordings. Throws {@link UsageError}. */
export async function listRecordings({ client }: Service, listing: Listing): Promise<Page> {
  const limit = readWhole("--limit", listing.limit, { least: 1, most: MOST });
  const filter = filterOf(listing);
  const recordings: Recording[] = [];
  let cursor: string | undefined;
  do {
    const page = { limit: Math.min(PAGE_ROWS, limit - recordings.length), cursor };
    const query = { ...filter, ...page, sortBy: "start", sortOrder: "desc" } as const;
    const { output, headers } = await client.callWithHeaders(api.recordings.list, query);
    recordings.push(...output);
    cursor = headers[NEXT_CURSOR_HEADER];
  } while (cursor !== undefined && recordings.length < limit);
  return { recordings, isMore: cursor !== undefined };
}

function filterOf({ project, device, path, topic, start, end, status }: Listing) {
  const known = status === undefined ? undefined : ImportStatus.safeParse(status);
  if (known?.success === false)
    throw new UsageError(`--status must be one of ${ImportStatus.options.join(", ")}, and is ${status}`);
  const given = {
    projectId: project,
    deviceName: device,
    pathMatches: path,
    topic,
    start: readTime("--start", start),
    end: readTime("--end", end),
    importStatus: known && [known.data],
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

/** Returns the recordings as the service answered them. */
export function asAnswered({ recordings }: Page): unknown {
  return api.recordings.list.response.encode([...recordings]);
}

const HEAD = ["ID", "START", "LENGTH", "SIZE", "IMPORT", "DEVICE", "PATH"];
const LEAST_PATH = 12;

export function renderRecordings({ recordings, isMore }: Page, columns: number): string {
  if (recordings.length === 0) return "No recording matches.\n";
  const rows = recordings.map(({ id, start, end, size, importStatus, device, path }) => [
    id,
    formatTimestamp(start).replace(/\.\d+Z$/, "Z"),
    formatDuration(Number(end - start) / 1e9),
    formatBytes(Number(size)),
    importStatus,
    printable(device?.name ?? "-"),
    printable(path),
  ]);
  const table = layOut(fitPaths([HEAD, ...rows], columns));
  return isMore ? `${table}More recordings match: --limit N lists more.\n` : table;
}

/** Cuts the last column to what the others leave of the screen. */
function fitPaths(rows: readonly (readonly string[])[], columns: number): readonly (readonly string[])[] {
  const taken = layOut(rows.map((row) => [...row.slice(0, -1), "|"])).indexOf("|");
  const room = Math.max(LEAST_PATH, columns - taken);
  return Number.isFinite(columns) ? rows.map((row) => [...row.slice(0, -1), fit(row.at(-1)!, room)]) : rows;
}
