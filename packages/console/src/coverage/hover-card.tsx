import type { Device } from "@downlink/protocol";
import { useLayoutEffect, useRef } from "preact/hooks";
import { usePause } from "../browser/use-pause.ts";
import { formatBytes, formatCount } from "../parts/bytes.ts";
import { ForeignText } from "../parts/foreign-text.tsx";
import { PictureOfDevice } from "../parts/picture-of-device.tsx";
import { formatDuration, formatSecond, zoneName } from "../time/format-time.ts";
import { zone } from "../time/zone.ts";
import type { LaneSource } from "../timeline/lane-canvas.ts";
import type { Hover, LaneState } from "../timeline/lane-state.ts";
import type { Span } from "../timeline/view.ts";
import { columnAround, dataAround } from "./inspected.ts";
import { addUp } from "./sum-up.ts";
import { useSums } from "./use-sums.ts";

interface CardProps {
  readonly projectId: string;
  readonly devices: readonly Device[];
  readonly source: LaneSource;
  readonly state: LaneState;
  readonly rowPx: number;
}

const RESTED_MS = 150;

/** Shows beside the pointer which recordings are below it. The amounts and a picture come once the pointer rests. */
export function HoverCard({ projectId, devices, source, state, rowPx }: CardProps) {
  const hover = state.hover.value;
  const device = hover && devices[hover.row];
  const view = state.view.value;
  const span = device && dataAround({ source, view, cursor: hover });
  const below = span && { deviceId: device.id, span };
  const column = span && { deviceId: device.id, span: columnAround(view, hover) };
  const hasRested = usePause(below, RESTED_MS) === below;
  const isAt = usePause(column, RESTED_MS) === column;
  const card = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (!card.current || !hover) return;
    const shown = card.current;
    if (!shown.matches(":popover-open")) shown.showPopover();
    const sized = new ResizeObserver(() => place(shown, hover, rowPx));
    sized.observe(shown);
    place(shown, hover, rowPx);
    return () => sized.disconnect();
  });
  if (!hover || !device || !below) return null;
  return (
    <div class="hover-card" popover="manual" ref={card} aria-hidden="true">
      {isAt && column && (
        <div class="hover-picture">
          <PictureOfDevice {...{ projectId, ...column }} />
        </div>
      )}
      <strong>
        <ForeignText text={device.name} />
      </strong>
      <SpanText {...below.span} />
      <Amounts {...{ projectId, ...below, hasRested }} />
    </div>
  );
}

const GAP_PX = 4;
const SIDE_PX = 12;

/** Below its row and beside the pointer; above where there is no room below, and always within the window. */
function place(card: HTMLElement, { share, row }: Hover, rowPx: number): void {
  const lanes = card.parentElement!.getBoundingClientRect();
  const { offsetWidth: widthPx, offsetHeight: heightPx } = card;
  const [atPx, belowPx] = [lanes.left + share * lanes.width, lanes.top + (row + 1) * rowPx + GAP_PX];
  const latestPx = innerHeight - heightPx - GAP_PX;
  const topPx = belowPx <= latestPx ? belowPx : belowPx - rowPx - heightPx - 2 * GAP_PX;
  card.style.left = `${share > 0.5 ? atPx - widthPx - SIDE_PX : atPx + SIDE_PX}px`;
  card.style.top = `${topPx >= GAP_PX ? topPx : Math.max(GAP_PX, latestPx)}px`;
}

interface BelowProps {
  readonly projectId: string;
  readonly deviceId: string;
  readonly span: Span;
}

function SpanText({ startNs, endNs }: Span) {
  const name = zoneName(zone.value);
  return (
    <p class="muted">
      {formatSecond(startNs, name)} {name}, {formatDuration(endNs - startNs)}
    </p>
  );
}

function Amounts({ projectId, deviceId, span, hasRested }: BelowProps & { readonly hasRested: boolean }) {
  const { data = [], isOld } = useSums({ projectId, ids: hasRested ? [deviceId] : [], span });
  return (
    <ul>
      {addUp(isOld ? [] : data).map(({ state, text, recordings, bytes }) => (
        <li key={state}>
          <i class={`sign sign-${state}`} /> {formatCount(recordings)} {text}, {formatBytes(bytes)}
        </li>
      ))}
    </ul>
  );
}
