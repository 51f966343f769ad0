import { listOver, measure } from "../measure.ts";
import { START_NS } from "../seed-sql.ts";
import { median } from "../store/compared.ts";
import type { ConsoleUnderTest } from "./console-under-test.ts";
import { type Row, timeRow } from "./rows.ts";

const RUNS = 5;
const MOST_TILE_MS = 60;
const MOST_LIST_MS = 100;
const TILE_ROWS = 64;
const TILE_BINS = 1024;
/** A bin is 2^level nanoseconds: tiles of about seven months, of three weeks and of a day. */
const LEVELS = [44, 41, 36];
const LIST_ROWS = 200;
/** The last row that the list of the console can reach. */
const FURTHEST_ROW = 200_000;

/** Times the calls that Coverage and the list of recordings make, without a browser. */
export async function timeServer({ cloud, projectId, devices, recordings }: ConsoleUnderTest): Promise<Row[]> {
  const get = listOver(cloud);
  const time = async (what: string, most: number, targets: readonly string[]) => {
    const timesMs: number[] = [];
    for (const target of targets) timesMs.push((await measure(get, target, RUNS)).medianMs);
    const note = `${targets.length} calls, the slowest ${Math.max(...timesMs).toFixed(0)} ms`;
    return timeRow({ what, value: median(timesMs), most, note });
  };
  const tiles = LEVELS.flatMap((level) =>
    Array.from({ length: Math.ceil(devices / TILE_ROWS) }, (_, block) => tileTarget(projectId, level, block)),
  );
  const far = Math.max(0, Math.min(FURTHEST_ROW, recordings) - LIST_ROWS);
  return [
    await time("server: tiles of Coverage, median", MOST_TILE_MS, tiles),
    await time("server: first rows of recordings, median", MOST_LIST_MS, listTargets(projectId, 0)),
    await time("server: last rows of recordings, median", MOST_LIST_MS, listTargets(projectId, far)),
  ];
}

function tileTarget(projectId: string, level: number, block: number): string {
  const lengthNs = BigInt(TILE_BINS) << BigInt(level);
  const middleNs = START_NS + 160n * 86_400_000_000_000n;
  const start = new Date(Number(((middleNs / lengthNs) * lengthNs) / 1_000_000n)).toISOString();
  const query = { projectId, start, binNs: 2 ** level, bins: TILE_BINS, limit: TILE_ROWS, offset: block * TILE_ROWS };
  return `/v1/data/coverage-grid?${toQuery(query)}`;
}

/** The orders of the list in the console, and its commonest filters. */
function listTargets(projectId: string, offset: number): string[] {
  const orders = ["start", "duration", "path", "deviceName", "createdAt"].map((sortBy) => ({ sortBy }));
  const filters = ["none", "failed", "complete"].map((importStatus) => ({ sortBy: "start", importStatus }));
  return [...orders, ...(offset === 0 ? filters : [])].map((query) => {
    const page = { projectId, sortOrder: "desc", limit: LIST_ROWS, offset };
    return `/v1/recordings?${toQuery({ ...page, ...query })}`;
  });
}

function toQuery(values: Readonly<Record<string, string | number>>): string {
  return new URLSearchParams(
    Object.entries(values).map(([name, value]) => [name, String(value)] as [string, string]),
  ).toString();
}
