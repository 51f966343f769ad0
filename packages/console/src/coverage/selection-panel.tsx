import { lazyPart } from "../frame/lazy-part.ts";
import { Button } from "../parts/button.tsx";
import { formatBytes, formatCount } from "../parts/bytes.ts";
import { Failed } from "../parts/failed.tsx";
import { formatDuration, formatExact, formatSecond, zoneName } from "../time/format-time.ts";
import { zone } from "../time/zone.ts";
import type { Inspected } from "./inspected.ts";
import type { PanelProps } from "./selection-deeds.tsx";
import { addUp, type DeviceSums } from "./sum-up.ts";
import { useSums } from "./use-sums.ts";

/** The panel has its place at once; its list and its deeds are loaded after the lanes. */
const SelectedRecordings = lazyPart(() => import("./selected-recordings.tsx").then((part) => part.SelectedRecordings));
const SelectionDeeds = lazyPart(() => import("./selection-deeds.tsx").then((part) => part.SelectionDeeds));

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
      <SelectionDeeds {...props} sums={known} />
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
