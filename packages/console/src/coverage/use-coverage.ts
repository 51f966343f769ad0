import { type Device, devices, NEXT_CURSOR_HEADER } from "@downlink/protocol";
import { useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { FOLLOWED_POLL_MS } from "../api/can-follow.ts";
import { client } from "../api/client.ts";
import { signIns } from "../api/queries.ts";
import { queryKey } from "../api/query-key.ts";
import { type Query, useFetched } from "../api/use-query.ts";
import { formatExact } from "../time/format-time.ts";
import { resolveRange, type TypedRange } from "../time/range.ts";
import { type LaneState, showSpan, startLanes } from "../timeline/lane-state.ts";
import { type Span, snapNs, toSpan } from "../timeline/view.ts";
import type { UrlParams } from "../url/use-params.ts";
import { GridSource } from "./grid-source.ts";
import { type coverageParams, rangeOf, toDeviceFilter } from "./params.ts";
import { closeSpan } from "./span.ts";

const PAGE_ROWS = 500;
const SETTLED_MS = 400;
const POLL_MS = 60_000;
/** The tiles that are asked for again each minute. */
const REFRESHED = 4;
const PIXELS = 1000;

/** Asks for all devices, page after page, because the lanes need them as a whole. */
export function useFleet(projectId: string, text: string): Query<readonly Device[]> {
  const input = { projectId, sortBy: "name" as const, ...toDeviceFilter(text), limit: PAGE_ROWS };
  const [path, key] = queryKey(devices.list.path, input);
  const fetchAll = async ({ signal }: { signal: AbortSignal }) => {
    const all: Device[] = [];
    let cursor: string | undefined;
    do {
      const { output, headers } = await client.callWithHeaders(devices.list, { ...input, cursor }, { signal });
      all.push(...output);
      cursor = headers[NEXT_CURSOR_HEADER];
    } while (cursor !== undefined);
    return all;
  };
  return useFetched<readonly Device[]>([path, `all of ${key}`], fetchAll, { pollMs: FOLLOWED_POLL_MS });
}

/** Makes the source of the lanes' cells, which follows the devices and asks again for data that may have changed while it is shown. */
export function useGridSource(projectId: string, fleet: readonly Device[] | undefined): GridSource {
  const source = useMemo(() => new GridSource(projectId), [projectId]);
  useEffect(() => source.setDevices((fleet ?? []).map(({ id }) => id)), [source, fleet]);
  useEffect(() => {
    const timer = setInterval(() => !document.hidden && source.refresh(REFRESHED), POLL_MS);
    return () => {
      clearInterval(timer);
      source.stop();
    };
  }, [source]);
  useEffect(() => {
    if (signIns.value > 0) source.again();
  }, [source, signIns.value]);
  return source;
}

export interface LaneView {
  readonly state: LaneState;
  /** The span that is shown since the view rests. Calls are made for it, and not for each step of a drag. */
  readonly settled: Span;
  readonly nowMs: number;
}

/** Joins the view with the address: the address says what is shown at first, and a view that rests is written into it. */
export function useLaneView({ values, set }: UrlParams<typeof coverageParams>): LaneView {
  const [nowMs] = useState(Date.now());
  const range = rangeOf(values);
  const spanOf = (typed: TypedRange) => closeSpan(resolveRange(typed, nowMs), BigInt(nowMs) * 1_000_000n);
  const [state] = useState(() => startLanes(spanOf(range)));
  const settled = useSignal(spanOf(range));
  const shown = useRef(range);
  useEffect(() => {
    if (range.from === shown.current.from && range.to === shown.current.to) return;
    shown.current = range;
    settled.value = spanOf(range);
    showSpan(state, settled.value);
  }, [range.from, range.to]);
  const write = (span: Span) => {
    const pixelMs = Number(span.endNs - span.startNs) / 1e6 / PIXELS;
    const [from, to] = [span.startNs, span.endNs].map((ns) => formatExact(snapNs(ns, pixelMs))) as [string, string];
    shown.current = { from, to };
    settled.value = span;
    set({ from, to });
  };
  const latest = useRef(write);
  latest.current = write;
  useSignalEffect(() => {
    const span = toSpan(state.view.value);
    if (isSame(span, settled.peek())) return;
    const timer = setTimeout(() => latest.current(span), SETTLED_MS);
    return () => clearTimeout(timer);
  });
  return { state, settled: settled.value, nowMs };
}

/** Compares two spans. The end is counted in a number of milliseconds, which rounds the end of a long span by some nanoseconds. */
function isSame(one: Span, other: Span): boolean {
  const off = one.endNs - other.endNs;
  return one.startNs === other.startNs && off < 1000n && off > -1000n;
}
