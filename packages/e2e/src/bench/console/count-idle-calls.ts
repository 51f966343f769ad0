import { setTimeout as delay } from "node:timers/promises";
import { sayHidden } from "../../console/testing/say-hidden.ts";
import type { ConsoleUnderTest, Tab } from "./console-under-test.ts";
import { countRow, type Row } from "./rows.ts";

const MOST_VISIBLE = 8;
const PAGES = ["coverage", "recordings", "devices", "events"];

/** Counts the calls of tabs that no user touches: for so many minutes while they are visible, and as long while they are hidden. */
export async function countIdleCalls({ newTab, projectId }: ConsoleUnderTest, minutes: number): Promise<Row[]> {
  await using closing = new AsyncDisposableStack();
  const tabs: { readonly name: string; readonly tab: Tab; readonly calls: string[] }[] = [];
  for (const name of PAGES) {
    const tab = closing.use(await newTab());
    const calls: string[] = [];
    await tab.open(`/p/${projectId}/${name}`);
    tab.page.on("request", (request) => {
      const { pathname } = new URL(request.url());
      if (pathname.startsWith("/v1/")) calls.push(pathname);
    });
    tabs.push({ name, tab, calls });
  }
  const count = async (state: string, most: number) => {
    for (const { calls } of tabs) calls.length = 0;
    await delay(minutes * 60_000);
    return tabs.map(({ name, calls }) => {
      const what = `calls a minute of an idle ${state} tab, ${name}`;
      return countRow({ what, value: calls.length / minutes, most, note: tally(calls) });
    });
  };
  const visible = await count("visible", MOST_VISIBLE);
  for (const { tab } of tabs) await tab.page.evaluate(sayHidden(true));
  return [...visible, ...(await count("hidden", 0))];
}

function tally(calls: readonly string[]): string {
  return [...Map.groupBy(calls, (path) => path)].map(([path, all]) => `${all.length} ${path}`).join(", ");
}
