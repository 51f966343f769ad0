import type { Device } from "@downlink/protocol";
import { usePause } from "../browser/use-pause.ts";
import { formatBytes, formatCount } from "../parts/bytes.ts";
import { type Anchor, FloatCard } from "../parts/float-card.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import { PictureOfDevice } from "../parts/picture-of-device.tsx";
import { formatDuration, formatSecond, zoneName } from "../time/format-time.ts";
import { zone } from "../time/zone.ts";
import type { LaneSource } from "../timeline/lane-canvas.ts";
import type { Hover, LaneState } from "../timeline/lane-state.ts";
import { type Span, toNs, type View } from "../timeline/view.ts";
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

const RESTED_MS = 150;

/** Shows beside the pointer which recordings are below it. The amounts and a picture come once the pointer rests. */
export function HoverCard({ projectId, devices, source, state, rowPx }: CardProps) {
  const hover = state.hover.value;
  const device = hover && devices[hover.row];
  const view = state.view.value;
  const span = device && dataAround({ source, view, cursor: hover });
  const below = span && { deviceId: device.id, span };
  const pixel = span && { deviceId: device.id, span: pixelAt(view, hover) };
  const hasRested = usePause(below, RESTED_MS) === below;
  const isAt = usePause(pixel, RESTED_MS) === pixel;
  if (!hover || !device || !below) return null;
  return (
    <FloatCard class="hover-card" anchorOf={(card) => placeOf(card, hover, rowPx)}>
      {isAt && pixel && <PictureOfDevice {...{ projectId, ...pixel }} />}
      <div class="hover-text">
        <strong>
          <ForeignText text={device.name} />
        </strong>
        <SpanText {...below.span} />
        <Amounts {...{ projectId, ...below, hasRested }} />
      </div>
    </FloatCard>
  );
}

/** Returns the time of the pixel below the pointer, wherever in it the pointer is. */
function pixelAt(view: View, { ms, pixelMs }: Hover): Span {
  return { startNs: toNs(view, ms - pixelMs), endNs: toNs(view, ms + pixelMs) };
}

/** Returns where the pointer is in its row. */
function placeOf(card: HTMLElement, { share, row }: Hover, rowPx: number): Anchor {
  const lanes = card.parentElement!.getBoundingClientRect();
  const [x, top] = [lanes.left + share * lanes.width, lanes.top + row * rowPx];
  return { left: x, right: x, top, bottom: top + rowPx };
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
