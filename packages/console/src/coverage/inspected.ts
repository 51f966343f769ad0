import { type Device, MAX_SELECTED_DEVICES } from "@downlink/protocol";
import { formatExact } from "../time/format-time.ts";
import { parseTime } from "../time/parse-time.ts";
import { columnsOf, type LaneSource } from "../timeline/lane-canvas.ts";
import type { Cursor, LaneState } from "../timeline/lane-state.ts";
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

/** Returns the selection, or else the range at the cursor: as far as there is data without a visible gap. */
export function inspectedSpan({ devices, source, state }: Looked): Omit<Inspected, "asks"> | undefined {
  const { view, selection, cursor } = state;
  const pixelMs = view.value.spanMs / PIXELS;
  if (selection.value) {
    const { firstRow, lastRow, fromMs, toMs } = selection.value;
    const span = { startNs: snapped(view.value, fromMs, pixelMs), endNs: snapped(view.value, toMs, pixelMs) };
    return { devices: devices.slice(firstRow, lastRow + 1), span };
  }
  const device = devices[cursor.value.row];
  if (!device) return undefined;
  const around = dataAround({ source, view: view.value, cursor: cursor.value });
  const atNs = toNs(view.value, cursor.value.ms);
  return { devices: [device], span: around ?? { startNs: atNs, endNs: toNs(view.value, cursor.value.ms + pixelMs) } };
}

interface Around {
  readonly source: LaneSource;
  readonly view: View;
  readonly cursor: Cursor;
}

/** Returns the range of the data at a cursor, as far as it has no visible gap; undefined where there is none. */
export function dataAround({ source, view, cursor }: Around): Span | undefined {
  const columns = columnsOf(cursor.row, { view, widthPx: PIXELS }, source);
  const px = Math.min(PIXELS - 1, Math.max(0, Math.floor(shareOf(view, cursor.ms) * PIXELS)));
  const { fromPx, toPx } = rangeAround(columns, px);
  if (fromPx === toPx) return undefined;
  const at = (column: number) => toNs(view, view.fromMs + (column * view.spanMs) / PIXELS);
  return { startNs: at(fromPx), endNs: at(toPx) };
}

function snapped(view: View, ms: number, pixelMs: number): bigint {
  return snapNs(toNs(view, ms), pixelMs);
}

/** Returns the address of the page that lists what is inspected; undefined for more devices than an address may name. */
export function addressOf(projectId: string, { devices, span }: Omit<Inspected, "asks">): string | undefined {
  if (devices.length > MAX_SELECTED_DEVICES) return undefined;
  const [from, to] = [formatExact(span.startNs), formatExact(span.endNs)];
  const search = new URLSearchParams({ from, to });
  if (devices.length === 1) search.set("device", devices[0]!.name);
  else search.set("devices", devices.map(({ id }) => id).join(","));
  return `${pagePath(projectId, "recordings")}?${search}`;
}

/** Returns the time and the devices of which events are marked; undefined for more devices than are marked at once. */
export function toDrawn({ devices, span }: Omit<Inspected, "asks">) {
  return devices.length > MAX_SELECTED_DEVICES ? undefined : { ...span, devices: devices.map(({ name }) => name) };
}

/** Returns the selection as it stands in the address: the names of its first and last device, and its ends. */
export function writeSelection({ devices, span }: Omit<Inspected, "asks">): string[] {
  return [devices[0]!.name, devices.at(-1)!.name, formatExact(span.startNs), formatExact(span.endNs)];
}

/** Returns the inspected devices and their span that an address names; undefined if it names none that are here. */
export function readSelection(
  [first, last, start, end]: readonly string[],
  devices: readonly Device[],
): Omit<Inspected, "asks"> | undefined {
  const [firstRow, lastRow] = [first, last].map((name) => devices.findIndex((device) => device.name === name));
  const [startNs, endNs] = [start, end].map(readTime);
  if (firstRow! < 0 || lastRow! < firstRow! || startNs === undefined || endNs === undefined) return undefined;
  return { devices: devices.slice(firstRow, lastRow! + 1), span: { startNs, endNs } };
}

function readTime(text = ""): bigint | undefined {
  const read = parseTime(text, { zone: "UTC", nowMs: 0 });
  return "problem" in read ? undefined : read.timeNs;
}
