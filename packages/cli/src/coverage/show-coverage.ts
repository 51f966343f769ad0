import { api, type CallInput, type CoverageGrid, MAX_GRID_DEVICES } from "@downlink/protocol";
import { UsageError } from "../failures/failures.ts";
import type { Flags } from "../flags/read-filters.ts";
import { readWhole } from "../flags/whole-number.ts";
import { writeList } from "../lists/write-list.ts";
import type { Service } from "../login/open-service.ts";
import { drawCoverage, layOutCoverage, type Screen } from "./draw-coverage.ts";
import { listRanges } from "./list-ranges.ts";
import { findSelection, type Selection } from "./selection.ts";

const { grid } = api.coverage;
const MOST_DEVICES = 10_000;
const WITHOUT_TERMINAL: Screen = { columns: 80, hasColours: false };

/** Draws at which times each device has data, or lists these times as JSON or CSV. Throws {@link UsageError}. */
export async function showCoverage(service: Service, flags: Flags): Promise<void> {
  const { stdout: output, stderr: notes } = process;
  const limit = readWhole("--limit", String(flags.limit), { least: 1, most: MOST_DEVICES });
  const selection = await findSelection(service, flags);
  if (flags.output !== "table")
    return writeList(await listRanges(service, selection), String(flags.output), { output, notes });
  if (selection.window === undefined) return void output.write("There is no data at that time.\n");
  const screen = output.isTTY ? { columns: output.columns, hasColours: output.hasColors() } : WITHOUT_TERMINAL;
  const { drawn, isMore } = await readGrid(service, await queryOf(service, selection, screen), limit);
  output.write(drawn.devices.length === 0 ? "No devices match.\n" : drawCoverage(drawn, screen));
  if (isMore) output.write("More devices match: --limit N draws more.\n");
}

type GridQuery = CallInput<typeof grid>;

const LONGEST_NS = 2n ** 63n - 1n;
/** A bin is at most so long that its nanoseconds are a number of 53 bits; a cell then has several. */
const LONGEST_BIN_NS = BigInt(Number.MAX_SAFE_INTEGER);

async function queryOf({ client }: Service, selection: Selection, { columns }: Screen): Promise<GridQuery> {
  const { window, deviceName, ...inProject } = selection;
  const { start, end } = window!;
  const { cells } = layOutCoverage(columns);
  const cellNs = divideUp(end - start + 1n, BigInt(cells));
  const perCell = divideUp(cellNs, LONGEST_BIN_NS);
  const bins = { start, binNs: Number(divideUp(cellNs, perCell)), bins: cells * Number(perCell) };
  if (BigInt(bins.binNs) * BigInt(bins.bins) > LONGEST_NS)
    throw new UsageError("--start and --end are more than 292 years apart.");
  const query = { ...inProject, ...bins, sortBy: "name" } as const;
  if (deviceName === undefined) return query;
  const { id } = await client.call(api.devices.get, { nameOrId: deviceName, ...inProject });
  return { ...query, deviceIds: [id] };
}

function divideUp(value: bigint, divisor: bigint): bigint {
  return (value + divisor - 1n) / divisor;
}

interface Read {
  readonly drawn: CoverageGrid;
  readonly isMore: boolean;
}

/** Reads the grid of at most so many devices, and of one more, to know whether there is one. */
async function readGrid({ client }: Service, query: GridQuery, limit: number): Promise<Read> {
  const devices: CoverageGrid["devices"] = [];
  for (;;) {
    const size = Math.min(MAX_GRID_DEVICES, limit + 1 - devices.length);
    const page = await client.call(grid, { ...query, limit: size, offset: devices.length });
    devices.push(...page.devices);
    if (page.devices.length < size || devices.length > limit)
      return { drawn: { ...page, devices: devices.slice(0, limit) }, isMore: devices.length > limit };
  }
}
