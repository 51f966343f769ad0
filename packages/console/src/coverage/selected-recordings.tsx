import { MAX_SELECTED_DEVICES, type Recording, recordings } from "@downlink/protocol";
import { useEffect, useRef } from "preact/hooks";
import { useRows } from "../api/use-rows.ts";
import { StatusBadge } from "../parts/badge.tsx";
import { formatBytes } from "../parts/bytes.ts";
import { CutBadge } from "../parts/cut-badge.tsx";
import { Failed } from "../parts/failed.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import { ProgressLine } from "../parts/progress-line.tsx";
import { useRowWindow } from "../parts/row-window.ts";
import { showHidden } from "../parts/show-hidden.ts";
import { Still } from "../parts/still.tsx";
import { formatDuration, formatSecond, zoneName } from "../time/format-time.ts";
import { zone } from "../time/zone.ts";
import { pagePath } from "../url/project.ts";
import type { Inspected } from "./inspected.ts";
import { type Shown, shownStatuses } from "./shown.ts";

interface SelectedProps {
  readonly projectId: string;
  readonly inspected: Inspected;
  readonly shown: Shown;
}

const ROW_PX = 52;

/** Lists the recordings of the selection, newest first. Each leads to its page, and to that of its device. */
export function SelectedRecordings({ projectId, inspected: { devices, span }, shown }: SelectedProps) {
  const importStatus = shownStatuses(shown);
  const isAsked = devices.length <= MAX_SELECTED_DEVICES && importStatus?.length !== 0;
  const rows = useRows(
    recordings.list,
    {
      projectId,
      deviceIds: devices.slice(0, MAX_SELECTED_DEVICES).map(({ id }) => id),
      start: span.startNs,
      end: span.endNs,
      ...(importStatus && { importStatus }),
      sortBy: "start",
      sortOrder: "desc",
    },
    { isEnabled: isAsked },
  );
  const scroller = useRef<HTMLDivElement>(null);
  const { items, heightPx } = useRowWindow(scroller, rows.count, ROW_PX);
  useEffect(() => {
    if (items.length > 0) rows.look(items[0]!.index, items.at(-1)!.index);
  }, [items[0]?.index, items.at(-1)?.index]);
  if (!isAsked && devices.length > MAX_SELECTED_DEVICES)
    return <p class="selected-none muted">Recordings of at most {MAX_SELECTED_DEVICES} devices are listed.</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <section class="selected" ref={scroller} tabIndex={0} aria-label="Recordings of the selection">
      <ProgressLine isOn={rows.isLoading} />
      {rows.failure && <Failed failure={rows.failure} again={rows.again} />}
      <ul style={{ height: `${heightPx}px` }}>
        {items.map(({ index, startPx }) => (
          <li key={index} style={{ top: `${startPx}px`, height: `${ROW_PX}px` }}>
            <Row {...{ projectId, recording: rows.at(index) }} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Row({ projectId, recording }: { projectId: string; recording: Recording | undefined }) {
  if (!recording) return <span class="selected-blank" />;
  const { id, device, path, start, end, size, importStatus, storedDamage, cutOf } = recording;
  return (
    <>
      <Still recording={recording} />
      <p class="selected-title">
        <a class="cut" href={pagePath(projectId, "recordings", id)} title={showHidden(path)}>
          <ForeignText text={path.split("/").at(-1) || id} />
        </a>
        <span class="muted nowrap">{formatSecond(start, zoneName(zone.value))}</span>
      </p>
      <p class="selected-facts muted">
        <StatusBadge status={importStatus} isDamaged={storedDamage !== undefined} />
        <CutBadge {...{ cutOf }} />
        <span>
          {formatDuration(end - start)} · {formatBytes(size)}
        </span>
        <span class="grow" />
        {device && (
          <a class="cut" href={pagePath(projectId, "devices", device.name)}>
            <ForeignText text={device.name} />
          </a>
        )}
      </p>
    </>
  );
}
