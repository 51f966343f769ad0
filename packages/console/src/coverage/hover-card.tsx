import type { Device } from "@downlink/protocol";
import { useEffect, useState } from "preact/hooks";
import { formatBytes, formatCount } from "../parts/bytes.ts";
import { ForeignText } from "../parts/foreign-text.tsx";
import { formatDuration, formatSecond, zoneName } from "../time/format-time.ts";
import { zone } from "../time/zone.ts";
import type { LaneSource } from "../timeline/lane-canvas.ts";
import type { LaneState } from "../timeline/lane-state.ts";
import type { Span } from "../timeline/view.ts";
import { dataAround } from "./inspected.ts";
import { addUp } from "./sum-up.ts";
import { useSums } from "./use-sums.ts";

interface CardProps {
  readonly projectId: string;
  readonly devices: readonly Device[];
  readonly source: LaneSource;
  readonly state: LaneState;
  readonly rowPx: number;
}

/** Shows beside the pointer which recordings are below it. The amounts come once the pointer rests. */
export function HoverCard({ projectId, devices, source, state, rowPx }: CardProps) {
  const hover = state.hover.value;
  const device = hover && devices[hover.row];
  const span = device && dataAround({ source, view: state.view.value, cursor: hover });
  if (!hover || !device || !span) return null;
  const isRight = hover.share > 0.5;
  const side = isRight ? { right: `${(1 - hover.share) * 100}%` } : { left: `${hover.share * 100}%` };
  return (
    <div
      class={isRight ? "hover-card is-left" : "hover-card"}
      style={{ ...side, top: `${(hover.row + 1) * rowPx}px` }}
      aria-hidden="true"
    >
      <strong>
        <ForeignText text={device.name} />
      </strong>
      <SpanText {...span} />
      <Amounts {...{ projectId, device, span }} key={`${device.id} ${span.startNs} ${span.endNs}`} />
    </div>
  );
}

function SpanText({ startNs, endNs }: Span) {
  const name = zoneName(zone.value);
  return (
    <p class="muted">
      {formatSecond(startNs, name)} {name}, {formatDuration(endNs - startNs)}
    </p>
  );
}

const RESTED_MS = 150;

function Amounts({ projectId, device, span }: { projectId: string; device: Device; span: Span }) {
  const [hasRested, setRested] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setRested(true), RESTED_MS);
    return () => clearTimeout(timer);
  }, []);
  const sums = useSums({ projectId, ids: hasRested ? [device.id] : [], span });
  return (
    <ul>
      {addUp(sums.data ?? []).map(({ state, text, recordings, bytes }) => (
        <li key={state}>
          <i class={`sign sign-${state}`} /> {formatCount(recordings)} {text}, {formatBytes(bytes)}
        </li>
      ))}
    </ul>
  );
}
