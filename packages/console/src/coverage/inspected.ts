import { type Device, MAX_GRID_DEVICES } from "@downlink/protocol";
import { formatExact } from "../time/format-time.ts";
import { columnsOf, type LaneSource } from "../timeline/lane-canvas.ts";
import type { LaneState } from "../timeline/lane-state.ts";
import { rangeAround } from "../timeline/range-around.ts";
import { type Span, shareOf, snapNs, toNs, type View } from "../timeline/view.ts";
import { pagePath } from "../url/project.ts";

/** Devices and a span of time that a user inspects. */
export interface Inspected {
  readonly devices: readonly Device[];
  readonly span: Span;
  /** The user pressed the key for importing: the button for it has the focus. */
  readonly asks: boolean;
}

interface Looked {
  readonly devices: readonly Device[];
  readonly source: LaneSource;
  readonly state: LaneState;
}

const PIXELS = 1000;

/**
 * Returns the selection, of no more rows than one call sums up, or else the range at the cursor: as far as there is data without a visible
 * gap.
 */
export function inspectedSpan({ devices, source, state }: Looked): Omit<Inspected, "asks"> | undefined {
  const { view, selection, cursor } = state;
  const pixelMs = view.value.spanMs / PIXELS;
  if (selection.value) {
    const { firstRow, lastRow, fromMs, toMs } = selection.value;
    const span = { startNs: snapped(view.value, fromMs, pixelMs), endNs: snapped(view.value, toMs, pixelMs) };
    return { devices: devices.slice(firstRow, Math.min(lastRow + 1, firstRow + MAX_GRID_DEVICES)), span };
  }
  const device = devices[cursor.value.row];
  if (!device) return undefined;
  const columns = columnsOf(cursor.value.row, { view: view.value, widthPx: PIXELS }, source);
  const px = Math.min(PIXELS - 1, Math.max(0, Math.floor(shareOf(view.value, cursor.value.ms) * PIXELS)));
  const { fromPx, toPx } = rangeAround(columns, px);
  const at = (column: number) => toNs(view.value, view.value.fromMs + column * pixelMs);
  return { devices: [device], span: { startNs: at(fromPx), endNs: at(Math.max(toPx, fromPx + 1)) } };
}

function snapped(view: View, ms: number, pixelMs: number): bigint {
  return snapNs(toNs(view, ms), pixelMs);
}

/** Returns the address of a page that lists what is inspected, or that makes an event of it. */
export function addressOf(
  projectId: string,
  page: "recordings" | "events",
  { devices, span }: Omit<Inspected, "asks">,
): string {
  const [from, to] = [formatExact(span.startNs), formatExact(span.endNs)];
  const search = new URLSearchParams({ from, to });
  if (devices.length === 1) search.set("device", devices[0]!.name);
  if (page === "events") search.set("new", [devices[0]!.name, from, to].join(","));
  return `${pagePath(projectId, page)}?${search}`;
}
