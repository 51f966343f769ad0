import { median } from "../store/compared.ts";
import type { Tab } from "./console-under-test.ts";
import { nextFrame } from "./counters.ts";
import { type Row, timeRow } from "./rows.ts";

const MOVES = 60;
const MOST_CARD_MS = 16;

/** Measures each time from a move of the pointer until the card beside it has changed in the document. */
const WATCH = `(() => {
  globalThis.benchHoverMs = [];
  let movedMs;
  addEventListener("pointermove", () => { movedMs ??= performance.now(); }, { capture: true });
  new MutationObserver(() => {
    if (movedMs !== undefined) benchHoverMs.push(performance.now() - movedMs);
    movedMs = undefined;
  }).observe(document.querySelector(".lanes-cards"), { childList: true, subtree: true, characterData: true, attributes: true });
})()`;

/** Moves the pointer over the lanes, and times how soon the card beside it says what is there. */
export async function hoverOverLanes({ page }: Tab): Promise<Row[]> {
  const box = (await page.locator(".lanes-bars").boundingBox())!;
  await page.evaluate(WATCH);
  for (let step = 0; step < MOVES; step++) {
    await page.mouse.move(box.x + (box.width * (step + 0.5)) / MOVES, 300 + step * 5);
    await nextFrame(page);
  }
  const answersMs = await page.evaluate<number[]>("benchHoverMs");
  if (answersMs.length === 0) throw new Error("no card was shown beside the pointer");
  const note = `${answersMs.length} of ${MOVES} moves`;
  return [timeRow({ what: "card beside the pointer, median", value: median(answersMs), most: MOST_CARD_MS, note })];
}
