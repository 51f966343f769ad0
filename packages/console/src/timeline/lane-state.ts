import { type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { Place } from "./gestures.ts";
import type { LaneSource } from "./lane-canvas.ts";
import { type Span, toView, type View } from "./view.ts";

/** Where the keys act: a row and a time, counted from the origin of the view. */
export interface Cursor {
  readonly row: number;
  readonly ms: number;
}

/** The row and the time below the pointer, and its place. */
export interface Hover extends Cursor, Place {
  /** How much time a pixel of the page has. */
  readonly pixelMs: number;
}

/** Some rows over a span of time. */
export interface LaneSelection {
  readonly firstRow: number;
  /** Inclusive. */
  readonly lastRow: number;
  readonly fromMs: number;
  readonly toMs: number;
}

/** The state of the lanes. Its parts are signals, so that a drag redraws the picture and renders nothing. */
export interface LaneState {
  readonly view: Signal<View>;
  readonly cursor: Signal<Cursor>;
  readonly selection: Signal<LaneSelection | undefined>;
  readonly hover: Signal<Hover | undefined>;
}

/** Rises when a source knows more. */
export type ChangingSource = LaneSource & { readonly version: ReadonlySignal<number> };

export function startLanes(span: Span): LaneState {
  const view = toView(span);
  return {
    view: signal(view),
    cursor: signal({ row: 0, ms: view.fromMs + view.spanMs / 2 }),
    selection: signal<LaneSelection | undefined>(undefined),
    hover: signal<Hover | undefined>(undefined),
  };
}

/** Shows another span, from another origin. */
export function showSpan(state: LaneState, span: Span): void {
  const view = toView(span);
  state.view.value = view;
  state.cursor.value = { ...state.cursor.value, ms: view.fromMs + view.spanMs / 2 };
  state.selection.value = undefined;
}
