import { type Device, MAX_SELECTED_DEVICES } from "@downlink/protocol";
import { useEffect, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import type { Query } from "../api/use-query.ts";
import { type Marking, useMarking } from "../curate/use-marking.tsx";
import { lazyPart } from "../frame/lazy-part.ts";
import { Button } from "../parts/button.tsx";
import { Failed } from "../parts/failed.tsx";
import { ProgressLine } from "../parts/progress-line.tsx";
import { UrlProblems } from "../parts/url-problems.tsx";
import { zoneName } from "../time/format-time.ts";
import { zone } from "../time/zone.ts";
import type { Act } from "../timeline/lane-actions.ts";
import { ZOOM_STEP } from "../timeline/lane-keys.ts";
import type { LaneState } from "../timeline/lane-state.ts";
import { Lanes } from "../timeline/lanes.tsx";
import { fromNs, zoomAbout } from "../timeline/view.ts";
import { useProjectId } from "../url/project.ts";
import { type UrlParams, useParams } from "../url/use-params.ts";
import "./coverage.css";
import { DeviceName } from "./device-name.tsx";
import { FitButton, useFirstFit, WrongClock } from "./fit.tsx";
import type { GridSource } from "./grid-source.ts";
import { HoverCard } from "./hover-card.tsx";
import { addressOf, type Inspected, inspectedSpan, readSelection, toDrawn, writeSelection } from "./inspected.ts";
import { NoDevices, NothingInSight } from "./nothing.tsx";
import { coverageParams } from "./params.ts";
import { SelectionPanel } from "./selection-panel.tsx";
import { shownBits, shownParts } from "./shown.ts";
import { Toolbar } from "./toolbar.tsx";
import { type LaneView, useFleet, useGridSource, useLaneView } from "./use-coverage.ts";

/** The first view is of lanes: the table is loaded when it is chosen. */
const CoverageTable = lazyPart(() => import("./coverage-table.tsx").then((part) => part.CoverageTable));

const NONE: readonly Device[] = [];

/** Shows the data of all devices over time, on robots and here, and what can be done with it. */
export function CoveragePage() {
  const projectId = useProjectId()!;
  const params = useParams(coverageParams);
  const fleet = useFleet(projectId, params.values.q);
  const source = useGridSource(projectId, fleet.data);
  useFirstFit({ params, projectId });
  const lanes = useLaneView(params);
  return (
    <div class="coverage-page">
      <Toolbar {...{ params, projectId, devices: fleet.data ?? NONE }} />
      <UrlProblems problems={params.problems} />
      <Loading {...{ fleet, source }} />
      <Content {...{ projectId, params, fleet, source, lanes }} />
    </div>
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
  const { projectId, params, fleet } = props;
  if (!fleet.data) return fleet.failure ? null : <div class="lanes-skeleton" aria-busy="true" />;
  if (fleet.data.length === 0) return <NoDevices {...{ params, projectId }} />;
  return <Workspace {...props} devices={fleet.data} />;
}

type WorkspaceProps = ContentProps & { readonly devices: readonly Device[] };

/** Shows the lanes, and beside them what is selected; all that is in sight where nothing is. */
function Workspace(props: WorkspaceProps) {
  const { projectId, params, source, lanes, devices } = props;
  const { mark, dialog } = useMarking(projectId);
  const { inspected, clear, onAct } = useInspected({ ...props, mark });
  const shown = shownParts(params.values.hide);
  useEffect(() => source.show(shownBits(shown)), [source, params.values.hide.join()]);
  const inSight = { devices, span: lanes.settled, asks: false };
  const panel = inspected ?? (devices.length <= MAX_SELECTED_DEVICES ? inSight : undefined);
  return (
    <div class="coverage-work">
      <div class="coverage-lanes">
        <WrongClock {...{ projectId }} />
        <NothingInSight {...{ projectId, lanes, set: params.set }} />
        {params.values.table ? (
          <CoverageTable {...{ projectId, devices, source, lanes }} />
        ) : (
          <FleetLanes {...props} onAct={onAct} />
        )}
      </div>
      {panel && (
        <SelectionPanel
          key={panel === inSight ? "in sight" : writeSelection(panel).join()}
          {...{ projectId, inspected: panel, shown, mark }}
          onClose={inspected && clear}
          onImported={() => source.refresh()}
        />
      )}
      {dialog}
    </div>
  );
}

interface Inspecting {
  readonly inspected: Inspected | undefined;
  clear(): void;
  onAct(act: Act): void;
}

type InspectingProps = WorkspaceProps & Pick<Marking, "mark">;

/** Keeps the selection, in the address as well, and does with it what a key asks for. */
function useInspected({ projectId, params, source, lanes, devices, mark }: InspectingProps): Inspecting {
  const { state } = lanes;
  const { route } = useLocation();
  const [inspected, setInspected] = useState(() => comeBack(params.values.sel, devices, state));
  const clear = () => {
    state.selection.value = undefined;
    setInspected(undefined);
    params.set({ sel: [] });
  };
  const onAct = (act: Act) => {
    if (act === "clear") return clear();
    const now = inspectedSpan({ devices, source, state });
    if (!now) return;
    setInspected({ ...now, asks: act === "import" });
    params.set({ sel: writeSelection(now) });
    const address = act === "open" ? addressOf(projectId, now) : undefined;
    if (address) route(address);
    const drawn = act === "event" ? toDrawn(now) : undefined;
    if (drawn) mark?.(drawn);
  };
  return { inspected, clear, onAct };
}

function FleetLanes({ projectId, params, source, lanes, devices, onAct }: WorkspaceProps & Pick<Inspecting, "onAct">) {
  const { state, nowMs, settled } = lanes;
  const rowPx = Number(params.values.row);
  return (
    <Lanes
      label={`Coverage of ${devices.length.toLocaleString("en-US")} devices. Arrows move the cursor, plus and minus zoom, Enter opens, i imports, e makes an event.`}
      {...{ state, source, nowMs, rowPx, onAct }}
      count={devices.length}
      zone={zoneName(zone.value)}
      textAt={(row) => devices[row]?.name ?? ""}
      nameAt={(row) => <DeviceName {...{ projectId, devices, row, settled }} />}
      controls={<Zoom {...{ params, projectId, state }} />}
      card={<HoverCard {...{ projectId, devices, source, state, rowPx }} />}
    />
  );
}

function Zoom({ params, projectId, state }: Pick<ContentProps, "params" | "projectId"> & { state: LaneState }) {
  const zoom = (factor: number) => {
    state.view.value = zoomAbout(state.view.value, factor, 0.5);
  };
  return (
    <span class="zoom">
      <Button text="−" class="small plain" aria-label="Farther" onClick={() => zoom(ZOOM_STEP)} />
      <Button text="+" class="small plain" aria-label="Closer" onClick={() => zoom(1 / ZOOM_STEP)} />
      <FitButton {...{ params, projectId }} />
    </span>
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
