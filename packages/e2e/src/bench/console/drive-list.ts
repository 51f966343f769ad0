import { eventually } from "@downlink/recordings/testing";
import type { BrowserContext, Page } from "playwright-core";
import type { ConsoleUnderTest } from "./console-under-test.ts";
import { installCounters, nextFrame, readCounters, resetCounters } from "./counters.ts";
import { longTaskRow } from "./drive-timeline.ts";
import { countRow, heapRow, type Row } from "./rows.ts";

const MOST_ROWS = 80;
const MOST_HEAP_BYTES = 100e6;
/** The list asks for pages of so many rows. */
const PAGE_PX = 200 * 36;
const SMALL_STEPS = 10;

/** Scrolls the list of all recordings to both ends for so many minutes, and counts its rows on the page and its memory. */
export async function driveList({ newTab, projectId }: ConsoleUnderTest, minutes: number): Promise<Row[]> {
  await using tab = await newTab();
  const { page, context } = tab;
  await installCounters(page);
  await tab.open(`/p/${projectId}/recordings`);
  await page.locator("[data-index='0'] a").first().waitFor();
  await resetCounters(page);
  const list = await scrollList(page, minutes);
  const { longTasksMs } = await readCounters(page);
  const heapBytes = await readHeap(page, context);
  if (tab.complaints.length > 0) throw new Error(tab.complaints.join("; "));
  const note = `${list.steps} steps, as far as row ${list.lastIndex}, in ${minutes} min`;
  return [
    countRow({ what: "rows of the list on the page, at most", value: list.mostRows, most: MOST_ROWS, note }),
    heapRow({ what: "heap after the list was scrolled", value: heapBytes, most: MOST_HEAP_BYTES }),
    longTaskRow("list", longTasksMs),
  ];
}

interface Scrolled {
  readonly steps: number;
  readonly mostRows: number;
  readonly lastIndex: number;
}

interface Seen {
  readonly rows: number;
  readonly lastIndex: number;
  readonly topPx: number;
  readonly endPx: number;
}

const SEE = `(() => {
  const box = document.querySelector(".table");
  const rows = [...box.querySelectorAll("[data-index]")];
  const lastIndex = Number(rows.at(-1)?.dataset.index ?? 0);
  return { rows: rows.length, lastIndex, topPx: box.scrollTop, endPx: box.scrollHeight - box.clientHeight };
})()`;

/** Jumps to the last row and to the first one, then reads on page by page, each with small steps, and turns at the ends. */
async function scrollList(page: Page, minutes: number): Promise<Scrolled> {
  const deadlineMs = performance.now() + minutes * 60_000;
  let [steps, mostRows, lastIndex] = [0, 0, 0];
  const move = async (toPx: string) => {
    await page.evaluate(`document.querySelector(".table").scrollTop = ${toPx}`);
    await nextFrame(page);
    const seen = await page.evaluate<Seen>(SEE);
    steps += 1;
    mostRows = Math.max(mostRows, seen.rows);
    lastIndex = Math.max(lastIndex, seen.lastIndex);
    return seen;
  };
  lastIndex = await jumpToEnd(page);
  await move("0");
  await waitForRows(page);
  for (let direction = 1; performance.now() < deadlineMs; ) {
    for (let step = 0; step < SMALL_STEPS; step++)
      await move(`document.querySelector(".table").scrollTop + ${direction * 100}`);
    const { topPx, endPx } = await move(`document.querySelector(".table").scrollTop + ${direction * PAGE_PX}`);
    await waitForRows(page);
    if (topPx >= endPx) direction = -1;
    if (topPx <= 0) direction = 1;
  }
  return { steps, mostRows, lastIndex };
}

/** Jumps to the last row, where the list must stay although it had not asked for these rows before, and returns its index. */
async function jumpToEnd(page: Page): Promise<number> {
  await page.evaluate(`document.querySelector(".table").scrollTop = 1e9`);
  await nextFrame(page);
  await waitForRows(page);
  const { topPx, endPx, lastIndex } = await page.evaluate<Seen>(SEE);
  if (endPx > PAGE_PX && topPx === 0) throw new Error("the list jumped back to its first row");
  return lastIndex;
}

/** Resolves once all rows in sight are here. */
async function waitForRows(page: Page): Promise<void> {
  const lacks = () => page.evaluate<boolean>("document.querySelector('.table [data-index][aria-busy]') !== null");
  await eventually(lacks, (isLacking) => !isLacking);
}

async function readHeap(page: Page, context: BrowserContext): Promise<number> {
  const session = await context.newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  return usedSize;
}
