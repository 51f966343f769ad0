import type uPlot from "uplot";
import { formatOffset } from "./format-offset.ts";
import type { Span } from "./look-props.ts";
import type { Plot } from "./requests.ts";

/** The distances of the ticks of time. */
const STEPS_SECONDS = [
  ...[-6, -5, -4, -3, -2, -1].flatMap((power) => [1, 2, 5].map((factor) => factor * 10 ** power)),
  ...[1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 43_200, 86_400],
];

interface PlotLook {
  readonly drawn: Plot;
  readonly widthPx: number;
  readonly heightPx: number;
  readonly span: Span;
  /** How long after the beginning of the recording the times of the slice begin. */
  readonly offsetNs: number;
  onCursor(cursorNs: number): void;
  onZoom(span: Span | undefined): void;
}

/** Returns how lines are drawn: in the colours of the page around `element`, broken and hatched where messages are missing. */
export function plotOptions(element: HTMLElement, look: PlotLook): uPlot.Options {
  const color = colorsOf(element);
  const axis: uPlot.Axis = {
    stroke: color("--muted"),
    font: `11px ${getComputedStyle(element).fontFamily}`,
    grid: { stroke: color("--line"), width: 1 },
    ticks: { show: false },
  };
  return {
    width: look.widthPx,
    height: look.heightPx,
    legend: { show: false },
    scales: { x: { time: false, range: () => [toSeconds(look.span.startNs, look), toSeconds(look.span.endNs, look)] } },
    axes: [
      {
        ...axis,
        size: 26,
        grid: { show: false },
        incrs: STEPS_SECONDS,
        values: (...[, ticks, , , step]) => formatTicks(ticks, step),
      },
      { ...axis, size: 46 },
    ],
    series: [
      {},
      ...look.drawn.points.map((points, index) => ({
        stroke: color(`--series-${index + 1}`),
        width: 1.5,
        points: { show: points.filter((point) => typeof point === "number").length < 60, size: 4 },
      })),
    ],
    cursor: { drag: { x: true, y: false, setScale: false }, bind: { dblclick: () => showAll(look) } },
    hooks: {
      drawClear: [(chart) => hatchGaps(chart, look, color("--line-strong"))],
      setSelect: [(chart) => zoom(chart, look)],
      ready: [
        (chart) => chart.over.addEventListener("click", (event) => look.onCursor(timeAt(chart, event.offsetX, look))),
      ],
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

export function toSeconds(timeNs: number, { offsetNs }: Pick<PlotLook, "offsetNs">): number {
  return (timeNs + offsetNs) / 1e9;
}

function timeAt(chart: uPlot, leftPx: number, { offsetNs }: PlotLook): number {
  return chart.posToVal(leftPx, "x") * 1e9 - offsetNs;
}

function formatTicks(ticks: readonly number[], stepSeconds: number): string[] {
  const decimals = Math.min(6, Math.max(0, Math.ceil(-Math.log10(stepSeconds))));
  return ticks.map((seconds) => formatOffset(seconds, decimals));
}

function zoom(chart: uPlot, look: PlotLook): void {
  const { left, width } = chart.select;
  if (width < 4) return;
  chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  look.onZoom({ startNs: timeAt(chart, left, look), endNs: timeAt(chart, left + width, look) });
}

const HATCH_PX = 6;

function hatchGaps({ ctx, bbox, valToPos }: uPlot, look: PlotLook, color: string): void {
  const { gaps } = look.drawn;
  ctx.save();
  ctx.beginPath();
  for (const { startNs, endNs } of gaps) {
    const left = Math.max(bbox.left, valToPos(toSeconds(startNs, look), "x", true));
    const right = Math.min(bbox.left + bbox.width, valToPos(toSeconds(endNs, look), "x", true));
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
