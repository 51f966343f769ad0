import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { Button } from "../parts/button.tsx";
import "uplot/dist/uPlot.min.css";
import { watchLook } from "../browser/watch-look.ts";
import { describePath, parsePath } from "./fields.ts";
import type { LookProps, Span } from "./look-props.ts";
import { plotOptions, toSeconds } from "./plot-options.ts";
import type { Plot as Drawn } from "./requests.ts";
import { StatesLook } from "./states.tsx";
import { useAnswer } from "./use-answer.ts";
import { useSize } from "./use-size.ts";

interface PlotProps extends LookProps {
  /** JSON pointers. Without any, those are drawn that one wants to see of the type. */
  readonly fields: readonly string[];
}

/** Draws the numbers of a topic as lines; a topic without numbers shows its states. */
export function PlotLook(props: PlotProps) {
  const { session, topic } = props;
  const { answer, problem } = useAnswer(session, "fields", { topic: topic.topic });
  if (problem) return <p class="view-note">{problem}</p>;
  const fields = props.fields.length > 0 ? props.fields : answer?.usual;
  if (!fields) return null;
  return fields.length === 0 ? <StatesLook {...props} /> : <Plot {...props} fields={fields} />;
}

/** Lines over time. Dragging shows a part of it, a double click shows all again, a click moves the moment that is looked at. */
function Plot({ session, topic: { topic }, fields, span: all, offsetNs, cursorNs, onCursor }: PlotProps) {
  const frame = useRef<HTMLDivElement>(null);
  const { widthPx, heightPx } = useSize(frame);
  const [zoom, setZoom] = useState<Span | undefined>();
  const span = zoom ?? all;
  const lines = fields.map((field) => ({ topic, field }));
  const { answer, problem } = useAnswer(session, "plot", { lines, ...span, columns: Math.max(1, widthPx - 60) });
  const drawn = answer?.points.length === lines.length ? answer : undefined;
  return (
    <figure class="plot">
      <Legend fields={fields} />
      <div ref={frame} class="plot-frame">
        {drawn && widthPx > 0 && (
          <Chart {...{ drawn, widthPx, heightPx, cursorNs, onCursor, onZoom: setZoom, span, offsetNs }} />
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

function Legend({ fields }: { fields: readonly string[] }) {
  return (
    <ul class="row plot-legend">
      {fields.map((field, index) => (
        <li key={field} class={`series series-${index + 1}`}>
          {describePath(parsePath(field))}
        </li>
      ))}
    </ul>
  );
}

interface ChartProps extends Pick<LookProps, "cursorNs" | "offsetNs" | "onCursor" | "span"> {
  readonly drawn: Drawn;
  readonly widthPx: number;
  readonly heightPx: number;
  readonly onZoom: (span: Span | undefined) => void;
}

function Chart({ cursorNs, ...look }: ChartProps) {
  const { drawn, widthPx, heightPx, span, offsetNs } = look;
  const element = useRef<HTMLDivElement>(null);
  const lookCount = useLookCount();
  const [chart, setChart] = useState<uPlot | undefined>();
  useEffect(() => {
    const data = [drawn.timesNs.map((timeNs) => toSeconds(timeNs, look)), ...drawn.points];
    const made = new uPlot(plotOptions(element.current!, look), data as uPlot.AlignedData, element.current!);
    setChart(made);
    return () => made.destroy();
  }, [drawn, widthPx, heightPx, lookCount]);
  useMoment(chart, toSeconds(cursorNs, { offsetNs }));
  const label = `${drawn.points.length} lines over ${((span.endNs - span.startNs) / 1e9).toPrecision(3)} s`;
  return <div ref={element} role="img" aria-label={label} />;
}

/** Marks the moment above the lines, so that they are not drawn again while it moves. */
function useMoment(chart: uPlot | undefined, seconds: number): void {
  useEffect(() => {
    if (!chart) return;
    const line = chart.over.querySelector<HTMLElement>(".plot-moment") ?? document.createElement("div");
    line.className = "plot-moment";
    line.style.transform = `translateX(${chart.valToPos(seconds, "x")}px)`;
    chart.over.append(line);
  }, [chart, seconds]);
}

/** Counts the changes of the colours, with which a canvas has to be drawn again. */
function useLookCount(): number {
  const [count, setCount] = useState(0);
  useEffect(() => watchLook(() => setCount((before) => before + 1)), []);
  return count;
}
