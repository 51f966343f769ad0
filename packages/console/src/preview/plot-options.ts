import type uPlot from "uplot";
import type { Line, Plot } from "./requests.ts";

interface PlotLook {
  readonly lines: readonly Line[];
  readonly drawn: Plot;
  readonly widthPx: number;
  readonly heightPx: number;
  readonly span: { readonly startNs: number; readonly endNs: number };
  momentNs(): number;
  onCursor(cursorNs: number): void;
  onZoom(span: { startNs: number; endNs: number } | undefined): void;
}

/** Returns how lines are drawn: in the colours of the page around `element`, broken and hatched where messages are missing. */
export function plotOptions(element: HTMLElement, look: PlotLook): uPlot.Options {
  const color = colorsOf(element);
  const axis: uPlot.Axis = {
    stroke: color("--muted"),
    grid: { stroke: color("--line"), width: 1 },
    ticks: { stroke: color("--line"), width: 1 },
  };
  return {
    width: look.widthPx,
    height: look.heightPx,
    legend: { show: false },
    scales: { x: { time: false, range: () => [look.span.startNs / 1e9, look.span.endNs / 1e9] } },
    axes: [
      { ...axis, values: (_, ticks) => ticks.map((seconds) => `+${seconds} s`) },
      { ...axis, size: 60 },
    ],
    series: [
      {},
      ...look.lines.map((_, index) => ({
        stroke: color(`--series-${index + 1}`),
        width: 1.5,
        points: { show: look.drawn.points[index]!.filter((point) => typeof point === "number").length < 60, size: 4 },
      })),
    ],
    cursor: { drag: { x: true, y: false, setScale: false }, bind: { dblclick: () => showAll(look) } },
    hooks: {
      drawClear: [(chart) => hatchGaps(chart, look.drawn, color("--line-strong"))],
      draw: [(chart) => drawMoment(chart, look.momentNs() / 1e9, color("--focus"))],
      setSelect: [(chart) => zoom(chart, look)],
      ready: [(chart) => chart.over.addEventListener("click", (event) => look.onCursor(timeAt(chart, event.offsetX)))],
    },
  };
}

/** A canvas does not know the names of colours that the page gives, so that the browser has to compute them. */
function colorsOf(element: HTMLElement): (name: string) => string {
  return (name) => {
    element.style.color = `var(${name})`;
    const { color } = getComputedStyle(element);
    element.style.color = "";
    return color;
  };
}

function showAll(look: PlotLook): () => null {
  return () => {
    look.onZoom(undefined);
    return null;
  };
}

function timeAt(chart: uPlot, leftPx: number): number {
  return chart.posToVal(leftPx, "x") * 1e9;
}

function zoom(chart: uPlot, look: PlotLook): void {
  const { left, width } = chart.select;
  if (width < 4) return;
  chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  look.onZoom({ startNs: Math.max(0, timeAt(chart, left)), endNs: timeAt(chart, left + width) });
}

const HATCH_PX = 6;

function hatchGaps({ ctx, bbox, valToPos }: uPlot, { gaps }: Plot, color: string): void {
  ctx.save();
  ctx.beginPath();
  for (const { startNs, endNs } of gaps) {
    const left = Math.max(bbox.left, valToPos(startNs / 1e9, "x", true));
    const right = Math.min(bbox.left + bbox.width, valToPos(endNs / 1e9, "x", true));
    if (right - left >= 1) ctx.rect(left, bbox.top, right - left, bbox.height);
  }
  ctx.clip();
  ctx.strokeStyle = color;
  ctx.globalAlpha = 0.5;
  ctx.beginPath();
  for (let x = bbox.left - bbox.height; gaps.length > 0 && x < bbox.left + bbox.width; x += HATCH_PX) {
    ctx.moveTo(x, bbox.top + bbox.height);
    ctx.lineTo(x + bbox.height, bbox.top);
  }
  ctx.stroke();
  ctx.restore();
}

function drawMoment({ ctx, bbox, valToPos }: uPlot, seconds: number, color: string): void {
  const x = valToPos(seconds, "x", true);
  if (x < bbox.left || x > bbox.left + bbox.width) return;
  ctx.save();
  ctx.strokeStyle = color;
  ctx.beginPath();
  ctx.moveTo(x, bbox.top);
  ctx.lineTo(x, bbox.top + bbox.height);
  ctx.stroke();
  ctx.restore();
}
