import type { Device } from "@downlink/protocol";
import { useState } from "preact/hooks";
import { Button } from "../parts/button.tsx";
import { formatDuration, type ZoneName, zoneName } from "../time/format-time.ts";
import { zone } from "../time/zone.ts";
import { columnsOf } from "../timeline/lane-canvas.ts";
import { type Run, runsOf } from "../timeline/runs.ts";
import { STATE_WORDS } from "../timeline/state-words.ts";
import { msAt, toNs, type View } from "../timeline/view.ts";
import { pagePath } from "../url/project.ts";
import type { GridSource } from "./grid-source.ts";
import { formatRounded, roundStep } from "./round-times.ts";
import type { LaneView } from "./use-coverage.ts";

interface TableProps {
  readonly projectId: string;
  readonly devices: readonly Device[];
  readonly source: GridSource;
  readonly lanes: LaneView;
}

const DEVICES = 20;
const MOST_RUNS = 40;
const PIXELS = 1000;

/** Shows the same ranges as text, for those who do not see the lanes, and to copy. */
export function CoverageTable({ projectId, devices, source, lanes }: TableProps) {
  const [page, setPage] = useState(0);
  source.version.value;
  const view = lanes.state.view.value;
  const first = page * DEVICES;
  const end = Math.min(devices.length, first + DEVICES);
  source.look({ view, widthPx: PIXELS, firstRow: first, endRow: end });
  const name = zoneName(zone.value);
  const stepMs = roundStep(view.spanMs / PIXELS);
  return (
    <section
      class="coverage-table"
      aria-label="Coverage as a table"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
      tabIndex={0}
    >
      <p class="muted">
        Times are rounded to {formatDuration(BigInt(stepMs) * 1_000_000n)}. A row may hold several recordings that lie
        closer together than that; a shorter time shows more exactly.
      </p>
      <table>
        <caption class="unseen">Data of each device, by rounded times</caption>
        <thead>
          <tr>
            <th scope="col">Device</th>
            <th scope="col">From about ({name})</th>
            <th scope="col">To about</th>
            <th scope="col">What</th>
          </tr>
        </thead>
        <tbody>
          {devices.slice(first, end).map((device, at) => (
            <Runs
              key={device.id}
              {...{ projectId, device, view, source, rounding: { stepMs, zone: name }, row: first + at }}
            />
          ))}
        </tbody>
      </table>
      <p class="row">
        <Button text="Previous" class="small" disabled={page === 0} onClick={() => setPage(page - 1)} />
        Devices {first + 1}–{end} of {devices.length.toLocaleString("en-US")}
        <Button text="Next" class="small" disabled={end >= devices.length} onClick={() => setPage(page + 1)} />
      </p>
    </section>
  );
}

interface RunsProps {
  readonly projectId: string;
  readonly device: Device;
  readonly view: View;
  readonly source: GridSource;
  readonly rounding: { readonly stepMs: number; readonly zone: ZoneName };
  readonly row: number;
}

function Runs({ projectId, device, view, source, rounding, row }: RunsProps) {
  const all = runsOf(columnsOf(row, { view, widthPx: PIXELS }, source));
  const runs = all.filter(({ state, hasEvent }) => state !== "nothing" || hasEvent);
  const name = (
    <th scope="row">
      <a href={pagePath(projectId, "devices", device.name)}>{device.name}</a>
    </th>
  );
  if (runs.length === 0)
    return (
      <tr>
        {name}
        <td colSpan={3} class="muted">
          no data
        </td>
      </tr>
    );
  return (
    <>
      {runs.slice(0, MOST_RUNS).map((run) => (
        <tr key={run.fromPx}>
          {name}
          <Cells {...{ run, view, rounding }} />
        </tr>
      ))}
      {runs.length > MOST_RUNS && (
        <tr>
          {name}
          <td colSpan={3} class="muted">
            and {runs.length - MOST_RUNS} more: choose a shorter time
          </td>
        </tr>
      )}
    </>
  );
}

function Cells({ run, view, rounding }: { run: Run } & Pick<RunsProps, "view" | "rounding">) {
  const at = (px: number, up: boolean) => formatRounded(toNs(view, msAt(view, px / PIXELS)), { ...rounding, up });
  return (
    <>
      <td>{at(run.fromPx, false)}</td>
      <td>{at(run.toPx, true)}</td>
      <td>
        {STATE_WORDS[run.state]}
        {run.hasEvent && ", an event"}
      </td>
    </>
  );
}
