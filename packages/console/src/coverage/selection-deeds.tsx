import { MAX_SELECTED_DEVICES } from "@downlink/protocol";
import { useState } from "preact/hooks";
import { may, useMe } from "../api/me.ts";
import { DatasetButton } from "../curate/dataset-button.tsx";
import type { EpisodeSource } from "../curate/episode-source.ts";
import type { Marking } from "../curate/use-marking.tsx";
import { sourceOfDevices } from "../export/export-source.ts";
import { describeSilent, silentAmong } from "../fleet/silent.ts";
import { lazyPart } from "../frame/lazy-part.ts";
import { Button } from "../parts/button.tsx";
import { formatCount } from "../parts/bytes.ts";
import { ImportSelection } from "./import-selection.tsx";
import { addressOf, type Inspected, toDrawn } from "./inspected.ts";
import type { Shown } from "./shown.ts";
import type { DeviceSums } from "./sum-up.ts";

const OpenButton = lazyPart(() => import("../export/open-button.tsx").then((part) => part.OpenButton));
const ExportDialog = lazyPart(() => import("../export/export-dialog.tsx").then((part) => part.ExportDialog));
const SelectionCut = lazyPart(() => import("../cuts/selection-cut.tsx").then((part) => part.SelectionCut));

export interface PanelProps extends Pick<Marking, "mark"> {
  readonly projectId: string;
  readonly inspected: Inspected;
  /** The parts of the lanes that are shown: the panel lists and imports no others. */
  readonly shown: Shown;
  /** Ends the selection; absent where nothing is selected, and the panel is about all that is in sight. */
  readonly onClose: (() => void) | undefined;
  readonly onImported: () => void;
}

/** Offers what can be done with the whole selection. */
export function SelectionDeeds({ sums, ...props }: PanelProps & { sums: readonly DeviceSums[] | undefined }) {
  const { projectId, inspected, shown, mark, onClose, onImported } = props;
  const { devices } = inspected;
  const drawn = toDrawn(inspected);
  const { data: me } = useMe();
  return (
    <footer>
      {sums && may(me, "data.upload") && <ImportSelection {...{ projectId, inspected, sums, shown, onImported }} />}
      {sums && onClose && shown.has("edgeOnly") && may(me, "data.upload") && (
        <CutSelection {...{ projectId, inspected, sums, onImported }} />
      )}
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

interface CutProps extends Pick<PanelProps, "projectId" | "inspected" | "onImported"> {
  readonly sums: readonly DeviceSums[];
}

/** Asks for no more than the span of what is on the devices only. */
function CutSelection({ projectId, inspected: { devices, span }, sums, onImported }: CutProps) {
  const [isOpen, setOpen] = useState(false);
  const ids = new Set(sums.filter(({ edgeOnly }) => edgeOnly.recordings > 0).map(({ id }) => id));
  if (!isOpen && (ids.size === 0 || ids.size > MAX_SELECTED_DEVICES)) return null;
  const note = describeSilent(silentAmong(devices, ids));
  const close = () => setOpen(false);
  return (
    <>
      <Button text="Import only this part…" class="cut-selection" onClick={() => setOpen(true)} />
      {isOpen && (
        <SelectionCut {...{ projectId, span, note }} deviceIds={[...ids]} onClose={close} onAsked={onImported} />
      )}
    </>
  );
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
