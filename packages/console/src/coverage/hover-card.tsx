import type { Device } from "@downlink/protocol";
import { useLayoutEffect, useRef } from "preact/hooks";
import { usePause } from "../browser/use-pause.ts";
import { formatBytes, formatCount } from "../parts/bytes.ts";
import { ForeignText } from "../parts/foreign-text.tsx";
import { PictureOfDevice } from "../parts/picture-of-device.tsx";
import { formatDuration, formatSecond, zoneName } from "../time/format-time.ts";
import { zone } from "../time/zone.ts";
import type { LaneSource } from "../timeline/lane-canvas.ts";
import type { LaneState } from "../timeline/lane-state.ts";
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
  useLayoutEffect(() => chooseSide(card.current));
  if (!hover || !device || !below) return null;
  const isRight = hover.share > 0.5;
  const side = isRight ? { right: `${(1 - hover.share) * 100}%` } : { left: `${hover.share * 100}%` };
  return (
    <div
      class={isRight ? "hover-card is-left" : "hover-card"}
      style={{ ...side, top: `${(hover.row + 1) * rowPx}px`, "--row": `${rowPx}px` }}
      ref={card}
      aria-hidden="true"
    >
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

/** The card stands above its row where there is more room. */
function chooseSide(card: HTMLElement | null): void {
  if (!card) return;
  const place = card.closest("[data-scroller]")!.getBoundingClientRect();
  const top = card.parentElement!.getBoundingClientRect().top + Number.parseFloat(card.style.top);
  card.dataset.above = String(top > (place.top + place.bottom) / 2);
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
