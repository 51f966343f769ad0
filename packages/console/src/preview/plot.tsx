import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { Button } from "../parts/button.tsx";
import "uplot/dist/uPlot.min.css";
import { watchLook } from "../browser/watch-look.ts";
import { describePath, parsePath } from "./fields.ts";
import { plotOptions } from "./plot-options.ts";
import type { Plot as Drawn, Line } from "./requests.ts";
import type { PreviewSession } from "./session.ts";
import { useAnswer } from "./use-answer.ts";

interface PlotProps {
  readonly session: PreviewSession;
  readonly lines: readonly Line[];
  readonly endNs: number;
  readonly cursorNs: number;
  readonly onCursor: (cursorNs: number) => void;
}

const HEIGHT_PX = 260;

/** Lines over time. Dragging shows a part of it, a double click shows all again, a click moves the moment that is looked at. */
export function Plot({ session, lines, endNs, cursorNs, onCursor }: PlotProps) {
  const frame = useRef<HTMLDivElement>(null);
  const widthPx = useWidth(frame);
  const [zoom, setZoom] = useState<{ startNs: number; endNs: number } | undefined>();
  const span = zoom ?? { startNs: 0, endNs };
  const request = { lines, ...span, columns: Math.max(1, widthPx - 60) };
  const { answer, problem } = useAnswer(session, "plot", request);
  const drawn = answer?.points.length === lines.length ? answer : undefined;
  return (
    <figure class="plot" hidden={lines.length === 0}>
      <Legend lines={lines} />
      <div ref={frame} class="plot-frame">
        {drawn && lines.length > 0 && widthPx > 0 && (
          <Chart {...{ drawn, lines, widthPx, cursorNs, onCursor, onZoom: setZoom, span }} />
        )}
      </div>
      <figcaption class="row muted">
        {drawn && drawn.gaps.length > 0 && <span>▨ {gapsText(drawn)}</span>}
        {drawn && drawn.unreadable > 0 && (
          <span>
            {drawn.unreadable} messages cannot be read: {drawn.problem}
          </span>
        )}
        {problem && <span role="alert">{problem}</span>}
        {zoom && <Button text="Show all" class="small" onClick={() => setZoom(undefined)} />}
      </figcaption>
    </figure>
  );
}

function gapsText({ gaps }: Drawn): string {
  const longest = Math.max(...gaps.map(({ startNs, endNs }) => endNs - startNs));
  return `${gaps.length === 1 ? "1 gap" : `${gaps.length} gaps`}, the longest of ${(longest / 1e9).toPrecision(3)} s`;
}

function Legend({ lines }: { lines: readonly Line[] }) {
  return (
    <ul class="row plot-legend">
      {lines.map(({ topic, field }, index) => (
        <li key={`${topic} ${field}`} class={`series series-${index + 1}`}>
          {topic} <span class="mono">{describePath(parsePath(field))}</span>
        </li>
      ))}
    </ul>
  );
}

interface ChartProps {
  readonly drawn: Drawn;
  readonly lines: readonly Line[];
  readonly widthPx: number;
  readonly span: { readonly startNs: number; readonly endNs: number };
  readonly cursorNs: number;
  readonly onCursor: (cursorNs: number) => void;
  readonly onZoom: (span: { startNs: number; endNs: number } | undefined) => void;
}

function Chart({ drawn, lines, widthPx, span, cursorNs, onCursor, onZoom }: ChartProps) {
  const element = useRef<HTMLDivElement>(null);
  const look = useLookCount();
  const moment = useRef(cursorNs);
  const chart = useRef<uPlot | null>(null);
  moment.current = cursorNs;
  useEffect(() => {
    const options = plotOptions(element.current!, {
      ...{ lines, drawn, widthPx, heightPx: HEIGHT_PX, span, onCursor, onZoom },
      momentNs: () => moment.current,
    });
    const data = [drawn.timesNs.map((timeNs) => timeNs / 1e9), ...drawn.points];
    chart.current = new uPlot(options, data as uPlot.AlignedData, element.current!);
    return () => chart.current?.destroy();
  }, [drawn, widthPx, look]);
  useEffect(() => chart.current?.redraw(false), [cursorNs]);
  const label = `${lines.length} lines over ${((span.endNs - span.startNs) / 1e9).toPrecision(3)} s`;
  return <div ref={element} role="img" aria-label={label} />;
}

/** Counts the changes of the colours, with which a canvas has to be drawn again. */
function useLookCount(): number {
  const [count, setCount] = useState(0);
  useEffect(() => watchLook(() => setCount((before) => before + 1)), []);
  return count;
}

function useWidth(frame: { readonly current: HTMLElement | null }): number {
  const [widthPx, setWidthPx] = useState(0);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidthPx(Math.floor(entry!.contentRect.width)));
    observer.observe(frame.current!);
    return () => observer.disconnect();
  }, []);
  return widthPx;
}
