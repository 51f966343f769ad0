import type { Page } from "playwright-core";
import { median } from "../store/compared.ts";
import type { ConsoleUnderTest, Tab } from "./console-under-test.ts";
import { type Counted, installCounters, nextFrame, readCounters, resetCounters } from "./counters.ts";
import { hoverOverLanes } from "./hover-over-lanes.ts";
import { countRow, type Row, timeRow } from "./rows.ts";

const YEAR = "from=2026-01-01T00:00:00Z&to=2027-01-01T00:00:00Z";
const ROW_PX = 24;
const COUNTED_ROWS = 8;
const MOST_DRAW_MS = 4;
const FRAME_MS = 16;
const SCROLLED_STEPS = 300;
const ZOOM_STEPS = 60;
const PAN_STEPS = 60;

/** Scrolls, zooms and pans the lanes of a whole fleet and a year, and counts what that costs the page. */
export async function driveTimeline({ newTab, projectId }: ConsoleUnderTest): Promise<Row[]> {
  await using tab = await newTab();
  const { page } = tab;
  await installCounters(page);
  await tab.open(`/p/${projectId}/coverage?${YEAR}`);
  await page.locator(".row-share").first().waitFor();
  await pointAt(page, 0.5);
  await scrollThrough(tab);
  const scrolled = await countWhile(page, () => scroll(page, SCROLLED_STEPS));
  const zoomed = await countWhile(page, () => zoom(tab));
  const panned = await countWhile(page, () => pan(page));
  const hovered = await hoverOverLanes(tab);
  if (tab.complaints.length > 0) throw new Error(tab.complaints.join("; "));
  const putsEach = (scrolled.puts / scrolled.result) * COUNTED_ROWS;
  const driven = { scroll: scrolled, zoom: zoomed, pan: panned };
  const longTasksMs = Object.values(driven).flatMap((counted) => counted.longTasksMs);
  return [
    countRow({
      what: `putImageData per ${COUNTED_ROWS} scrolled rows`,
      value: putsEach,
      most: 1,
      note: `${scrolled.puts} while ${scrolled.result} rows were scrolled`,
    }),
    ...Object.entries(driven).map(([name, { drawsMs }]) =>
      timeRow({
        what: `draw of the lanes, ${name}, median`,
        value: median(drawsMs),
        most: MOST_DRAW_MS,
        note: `${drawsMs.length} draws`,
      }),
    ),
    slowDrawRow(panned.drawsMs),
    longTaskRow("timeline", longTasksMs),
    ...hovered,
  ];
}

export function longTaskRow(what: string, longTasksMs: readonly number[]): Row {
  const note = longTasksMs.length > 0 ? `the longest took ${Math.max(...longTasksMs).toFixed(0)} ms` : "";
  const row = countRow({ what: `tasks of more than 50 ms, ${what}`, value: longTasksMs.length, most: 0, note });
  return { ...row, isGate: false }; // how long a task takes depends on the machine
}

/** A pan shows 60 pictures a second if each is drawn within a frame. */
function slowDrawRow(drawsMs: readonly number[]): Row {
  const value = drawsMs.filter((ms) => ms > FRAME_MS).length;
  const note = `of ${drawsMs.length}; the longest took ${Math.max(...drawsMs).toFixed(1)} ms`;
  return { ...countRow({ what: `draws of more than ${FRAME_MS} ms, pan`, value, most: 0, note }), isGate: false };
}

async function countWhile<T>(page: Page, drive: () => Promise<T>): Promise<Counted & { readonly result: T }> {
  await resetCounters(page);
  const result = await drive();
  await nextFrame(page);
  return { ...(await readCounters(page)), result };
}

/** Puts the pointer on a share of the width of the lanes. */
async function pointAt(page: Page, share: number): Promise<void> {
  const box = (await page.locator(".lanes-bars").boundingBox())!;
  await page.mouse.move(box.x + box.width * share, 500);
}

/** Shows each row once, so that every tile of the year is here before anything is counted. */
async function scrollThrough({ page, settled }: Tab): Promise<void> {
  for (let before = -1, at = 0; at !== before; ) {
    before = at;
    await page.mouse.wheel(0, 25 * ROW_PX);
    await nextFrame(page);
    await settled();
    at = await scrollTop(page);
  }
}

/** Scrolls up row by row, and returns the number of rows. */
async function scroll(page: Page, steps: number): Promise<number> {
  const before = await scrollTop(page);
  for (let step = 0; step < steps; step++) {
    await page.mouse.wheel(0, -ROW_PX);
    await nextFrame(page);
  }
  return (before - (await scrollTop(page))) / ROW_PX;
}

function scrollTop(page: Page): Promise<number> {
  return page.evaluate<number>("document.querySelector('.lanes-scroller').scrollTop");
}

/** Comes closer from a year to about a day, and goes back. */
async function zoom({ page, settled }: Tab): Promise<void> {
  await page.keyboard.down("Control");
  for (const turnedPx of [-66, 66])
    for (let step = 0; step < ZOOM_STEPS; step++) {
      await page.mouse.wheel(0, turnedPx);
      await nextFrame(page);
    }
  await page.keyboard.up("Control");
  await settled();
}

/** Drags the lanes with Shift by half of their width to the left, and back, at half a year. */
async function pan(page: Page): Promise<void> {
  const box = (await page.locator(".lanes-bars").boundingBox())!;
  const [left, right] = [box.x + box.width * 0.25, box.x + box.width * 0.75];
  await page.mouse.move(right, 500);
  await page.keyboard.down("Shift");
  await page.mouse.down();
  for (const [from, to] of [
    [right, left],
    [left, right],
  ] as const)
    for (let step = 1; step <= PAN_STEPS; step++) {
      await page.mouse.move(from + ((to - from) * step) / PAN_STEPS, 500);
      await nextFrame(page);
    }
  await page.mouse.up();
  await page.keyboard.up("Shift");
}
