import { MAX_SELECTED_DEVICES } from "@downlink/protocol";
import { useState } from "preact/hooks";
import { may, useMe } from "../api/me.ts";
import { DatasetButton } from "../curate/dataset-button.tsx";
import type { EpisodeSource } from "../curate/episode-source.ts";
import type { Marking } from "../curate/use-marking.tsx";
import { sourceOfDevices } from "../export/export-source.ts";
import { lazyPart } from "../frame/lazy-part.ts";
import { Button } from "../parts/button.tsx";
import { formatBytes, formatCount } from "../parts/bytes.ts";
import { Failed } from "../parts/failed.tsx";
import { formatDuration, formatExact, formatSecond, zoneName } from "../time/format-time.ts";
import { zone } from "../time/zone.ts";
import { addressOf, type Inspected, toDrawn } from "./inspected.ts";
import type { Shown } from "./shown.ts";
import { addUp, type DeviceSums } from "./sum-up.ts";
import { useSums } from "./use-sums.ts";

/** The panel has its place at once; its list, its deeds and the dialog are loaded after the lanes. */
const SelectedRecordings = lazyPart(() => import("./selected-recordings.tsx").then((part) => part.SelectedRecordings));
const ImportSelection = lazyPart(() => import("./import-selection.tsx").then((part) => part.ImportSelection));
const OpenButton = lazyPart(() => import("../export/open-button.tsx").then((part) => part.OpenButton));
const ExportDialog = lazyPart(() => import("../export/export-dialog.tsx").then((part) => part.ExportDialog));

interface PanelProps extends Pick<Marking, "mark"> {
  readonly projectId: string;
  readonly inspected: Inspected;
  /** The parts of the lanes that are shown: the panel lists and imports no others. */
  readonly shown: Shown;
  /** Ends the selection; absent where nothing is selected, and the panel is about all that is in sight. */
  readonly onClose: (() => void) | undefined;
  readonly onImported: () => void;
}

/** Shows the recordings in a span of one device or several, and what can be done with all of them. */
export function SelectionPanel(props: PanelProps) {
  const { projectId, inspected, shown, onClose } = props;
  const { devices, span } = inspected;
  const sums = useSums({ projectId, ids: devices.map(({ id }) => id), span });
  const known = sums.isOld ? undefined : sums.data;
  return (
    <section class={onClose ? "selection-panel is-chosen" : "selection-panel"} aria-label="Selection">
      <header>
        <div class="row">
          <h2>{onClose ? nameOf(inspected) : `In sight: ${nameOf(inspected)}`}</h2>
          <span class="grow" />
          {onClose && <Button text="✕" class="small plain" aria-label="Close" onClick={onClose} />}
        </div>
        <SpanText {...span} />
        {known && <Sums sums={known} lengthNs={span.endNs - span.startNs} />}
      </header>
      {sums.failure && <Failed failure={sums.failure} again={sums.again} />}
      <SelectedRecordings {...{ projectId, inspected, shown }} />
      <Deeds {...props} sums={known} />
    </section>
  );
}

function nameOf({ devices }: Inspected): string {
  return devices.length === 1 ? devices[0]!.name : `${formatCount(devices.length)} devices`;
}

function SpanText({ startNs, endNs }: { startNs: bigint; endNs: bigint }) {
  const name = zoneName(zone.value);
  const [start, end] = [formatSecond(startNs, name), formatSecond(endNs, name)];
  const isSameDay = start.slice(0, 10) === end.slice(0, 10);
  return (
    <p class="muted" title={`${formatExact(startNs)} – ${formatExact(endNs)}`}>
      {start} – {isSameDay ? end.slice(11) : end} {name}
    </p>
  );
}

/** Shows how many recordings there are of each state: as parts of a line by their number, and in words. */
function Sums({ sums, lengthNs }: { sums: readonly DeviceSums[]; lengthNs: bigint }) {
  const parts = addUp(sums);
  const [count, bytes] = [sumBy(parts, "recordings"), sumBy(parts, "bytes")];
  if (parts.length === 0) return <p>No recordings.</p>;
  return (
    <>
      <p class="muted">
        {formatDuration(lengthNs)} · {formatCount(count)} {count === 1 ? "recording" : "recordings"} ·{" "}
        {formatBytes(bytes)}
      </p>
      <div class="sum-line" aria-hidden="true">
        {parts.map(({ state, recordings }) => (
          <i key={state} class={`sign-${state}`} style={{ flexGrow: recordings }} />
        ))}
      </div>
      <ul class="sum-words">
        {parts.map(({ state, text, recordings, bytes }) => (
          <li key={state}>
            <i class={`sign sign-${state}`} aria-hidden="true" />
            <span>
              {formatCount(recordings)} {text}, {formatBytes(bytes)}
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}

function sumBy(parts: ReturnType<typeof addUp>, key: "recordings" | "bytes"): number {
  return parts.reduce((sum, part) => sum + part[key], 0);
}

/** Offers what can be done with the whole selection. */
function Deeds({ sums, ...props }: PanelProps & { sums: readonly DeviceSums[] | undefined }) {
  const { projectId, inspected, shown, mark, onImported } = props;
  const { devices } = inspected;
  const drawn = toDrawn(inspected);
  const { data: me } = useMe();
  return (
    <footer>
      {sums && may(me, "data.upload") && <ImportSelection {...{ projectId, inspected, sums, shown, onImported }} />}
      {sums && shown.has("imported") && may(me, "data.stream") && (
        <ExportSelection {...{ projectId, inspected, sums }} />
      )}
      {sums && devices.length <= MAX_SELECTED_DEVICES && shown.has("imported") && (
        <DatasetButton {...{ projectId, source: sourceOf(projectId, inspected) }} />
      )}
      <ToPage text="Open" href={addressOf(projectId, inspected)} />
      {mark && drawn && <Button text="Event" onClick={() => mark(drawn)} />}
      {mark && !drawn && <TooMany text="Event" />}
    </footer>
  );
}

/** Returns what a dataset is made of: the imported recordings of the devices, as far as they lie in the span. */
function sourceOf(projectId: string, { devices, span }: Inspected): EpisodeSource {
  const deviceIds = devices.map(({ id }) => id);
  return { kind: "recordings", filter: { projectId, deviceIds, start: span.startNs, end: span.endNs }, within: span };
}

interface ExportProps {
  readonly projectId: string;
  readonly inspected: Inspected;
  readonly sums: readonly DeviceSums[];
}

/** Exports what is imported of the selection, a file for each device. */
function ExportSelection({ projectId, inspected: { devices, span }, sums }: ExportProps) {
  const [isOpen, setOpen] = useState(false);
  const here = new Set(sums.filter(({ imported }) => imported.recordings > 0).map(({ id }) => id));
  const count = sums.reduce((sum, { imported }) => sum + imported.recordings, 0);
  const chosen = devices.filter(({ id }) => here.has(id));
  if (count === 0 || chosen.length > MAX_SELECTED_DEVICES) return null;
  const source = sourceOfDevices({ projectId, devices: chosen, span });
  return (
    <>
      <OpenButton source={source} />
      <Button text={`Export ${formatCount(count)}`} onClick={() => setOpen(true)} />
      {isOpen && <ExportDialog source={source} onClose={() => setOpen(false)} />}
    </>
  );
}

function ToPage({ text, href }: { text: string; href: string | undefined }) {
  if (href === undefined) return <TooMany text={text} />;
  return (
    <a class="button" href={href}>
      {text}
    </a>
  );
}

function TooMany({ text }: { text: string }) {
  return <Button {...{ text }} disabled title={`Select at most ${MAX_SELECTED_DEVICES} devices for this`} />;
}
