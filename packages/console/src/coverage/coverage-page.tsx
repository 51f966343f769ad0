import type { Device } from "@downlink/protocol";
import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import type { Query } from "../api/use-query.ts";
import { Failed } from "../parts/failed.tsx";
import { ProgressLine } from "../parts/progress-line.tsx";
import { UrlProblems } from "../parts/url-problems.tsx";
import { zoneName } from "../time/format-time.ts";
import { zone } from "../time/zone.ts";
import type { Act } from "../timeline/lane-actions.ts";
import type { LaneState } from "../timeline/lane-state.ts";
import { Lanes } from "../timeline/lanes.tsx";
import { fromNs } from "../timeline/view.ts";
import { useProjectId } from "../url/project.ts";
import { type UrlParams, useParams } from "../url/use-params.ts";
import { Attention } from "./attention.tsx";
import "./coverage.css";
import { CoverageTable } from "./coverage-table.tsx";
import { DeviceName } from "./device-name.tsx";
import type { GridSource } from "./grid-source.ts";
import { addressOf, type Inspected, inspectedSpan, readSelection, writeSelection } from "./inspected.ts";
import { Inspector } from "./inspector.tsx";
import { NoDevices, NothingInSight } from "./nothing.tsx";
import { coverageParams } from "./params.ts";
import { Toolbar } from "./toolbar.tsx";
import { type LaneView, useFleet, useGridSource, useLaneView } from "./use-coverage.ts";

/** Shows the data of all devices over time, on robots and here. */
export function CoveragePage() {
  const projectId = useProjectId()!;
  const params = useParams(coverageParams);
  const fleet = useFleet(projectId, params.values.q);
  const source = useGridSource(projectId, fleet.data);
  const lanes = useLaneView(params);
  return (
    <div class="coverage-page">
      <header class="row">
        <h1>Coverage</h1>
        <Attention {...{ projectId, devices: fleet.data ?? [] }} />
      </header>
      <UrlProblems problems={params.problems} />
      <Toolbar {...{ params, lanes, projectId }} />
      <Legend />
      <Loading {...{ fleet, source }} />
      <Content {...{ projectId, params, fleet, source, lanes }} />
    </div>
  );
}

const KEYS = [
  ["imported", "imported"],
  ["on-its-way", "on its way"],
  ["edge-only", "on the device only"],
  ["failed", "failed"],
  ["event", "event"],
  ["unasked", "not loaded yet"],
  ["nothing", "no data"],
] as const;

/** Explains the lanes: each state has a shape of its own. */
function Legend() {
  return (
    <ul class="legend muted" aria-label="What the lanes show">
      {KEYS.map(([sign, text]) => (
        <li key={sign}>
          <i class={`sign sign-${sign}`} aria-hidden="true" /> {text}
        </li>
      ))}
    </ul>
  );
}

interface ContentProps {
  readonly projectId: string;
  readonly params: UrlParams<typeof coverageParams>;
  readonly fleet: Query<readonly Device[]>;
  readonly source: GridSource;
  readonly lanes: LaneView;
}

/** Shows what is being loaded, and what could not be loaded: the rest stays as it is. */
function Loading({ fleet, source }: Pick<ContentProps, "fleet" | "source">) {
  source.version.value;
  return (
    <>
      <ProgressLine isOn={fleet.isLoading || source.isLoading} />
      {fleet.failure && <Failed failure={fleet.failure} again={fleet.again} />}
      {source.failure && <Failed failure={source.failure} again={() => source.again()} />}
    </>
  );
}

function Content(props: ContentProps) {
  const { projectId, params, fleet, source, lanes } = props;
  if (!fleet.data) return fleet.failure ? null : <div class="lanes-skeleton" aria-busy="true" />;
  if (fleet.data.length === 0) return <NoDevices {...{ params, projectId }} />;
  return (
    <>
      <NothingInSight {...{ projectId, lanes, set: params.set }} />
      {params.values.table ? (
        <CoverageTable {...{ projectId, devices: fleet.data, source, lanes }} />
      ) : (
        <FleetLanes {...props} devices={fleet.data} />
      )}
    </>
  );
}

function FleetLanes({ projectId, params, source, lanes, devices }: ContentProps & { devices: readonly Device[] }) {
  const { route } = useLocation();
  const { state, nowMs, settled } = lanes;
  const [inspected, setInspected] = useState(() => comeBack(params.values.sel, devices, state));
  const clear = () => {
    setInspected(undefined);
    params.set({ sel: [] });
  };
  const onAct = (act: Act) => {
    if (act === "clear") return clear();
    const now = inspectedSpan({ devices, source, state });
    if (!now) return;
    setInspected({ ...now, asks: act === "import" });
    params.set({ sel: writeSelection(now) });
    const page = { open: "recordings", event: "events" } as const;
    const address = act === "open" || act === "event" ? addressOf(projectId, page[act], now) : undefined;
    if (address) route(address);
  };
  return (
    <>
      <Lanes
        label={`Coverage of ${devices.length.toLocaleString("en-US")} devices. Arrows move the cursor, plus and minus zoom, Enter opens, i imports, e makes an event.`}
        {...{ state, source, nowMs, onAct }}
        count={devices.length}
        rowPx={Number(params.values.row)}
        zone={zoneName(zone.value)}
        textAt={(row) => devices[row]?.name ?? ""}
        nameAt={(row) => <DeviceName {...{ projectId, devices, row, settled }} />}
      />
      {inspected && (
        <Inspector
          key={`${inspected.devices[0]!.id} ${inspected.span.startNs} ${inspected.span.endNs}`}
          {...{ projectId, inspected }}
          onClose={clear}
          onImported={() => source.refresh()}
        />
      )}
    </>
  );
}

/** Draws and inspects the selection of the address again, as after Back. */
function comeBack(sel: readonly string[], devices: readonly Device[], state: LaneState): Inspected | undefined {
  const found = sel.length > 0 ? readSelection(sel, devices) : undefined;
  if (!found) return undefined;
  const firstRow = devices.indexOf(found.devices[0]!);
  const [fromMs, toMs] = [found.span.startNs, found.span.endNs].map((ns) => fromNs(state.view.value, ns));
  state.selection.value = { firstRow, lastRow: firstRow + found.devices.length - 1, fromMs: fromMs!, toMs: toMs! };
  state.cursor.value = { row: firstRow, ms: (fromMs! + toMs!) / 2 };
  return { ...found, asks: false };
}
