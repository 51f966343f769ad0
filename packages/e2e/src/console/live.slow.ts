import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { api } from "@downlink/protocol";
import { eventually, makeMcap } from "@downlink/recordings/testing";
import type { BrowserContext, Page, Request } from "playwright-core";
import { whyNoBrowser } from "./testing/browser.ts";
import { sayHidden } from "./testing/say-hidden.ts";
import { startConsole } from "./testing/start-console.ts";

const skip = whyNoBrowser();
const START_NS = 1_760_000_000_000_000_000n;
const DAY_NS = 86_400_000_000_000n;

test("an empty list fills by itself; then rows change where they are, and new ones wait until somebody asks", {
  skip,
}, async (t) => {
  const { open, storageRoot, startAgent, cloud, recordings } = await startConsole(t);
  const { page, complaints } = await open("/recordings");
  await page.getByText("There is no recording yet.").waitFor();
  startAgent();
  await writeFile(join(storageRoot, "first.mcap"), await makeMcap({ seed: 1, startNs: START_NS }));
  await page.getByRole("link", { name: "first.mcap" }).waitFor();

  await writeFile(join(storageRoot, "later.mcap"), await makeMcap({ seed: 2, startNs: START_NS + DAY_NS }));
  await page.getByRole("button", { name: "1 new · show" }).waitFor();
  assert.equal(await page.getByRole("link", { name: "later.mcap" }).count(), 0, "no row moves by itself");
  const [first] = (await recordings()).filter(({ path }) => path?.endsWith("first.mcap"));
  await cloud().admin.call(api.recordings.requestImport, { keyOrId: first!.id });
  await page.getByRole("row").filter({ hasText: "first.mcap" }).filter({ hasText: "imported" }).waitFor();

  await page.getByRole("button", { name: "1 new · show" }).click();
  await page.getByRole("link", { name: "later.mcap" }).waitFor();
  assert.equal(await page.getByRole("button", { name: /show$/ }).count(), 0);
  assert.deepEqual(complaints, []);
});

test("of the tabs of a browser one waits for changes, and another as soon as that is hidden", { skip }, async (t) => {
  const { open, home, cloud } = await startConsole(t, { files: { "run.mcap": 1 } });
  const { page, context, complaints } = await open("/events");
  const waiting = watchCalls(context);
  const other = await context.newPage();
  await other.goto(`${home}/events`);
  await other.getByRole("heading", { name: "Events" }).waitFor();
  await eventually(
    async () => waiting.of(page),
    (count) => count === 1,
  );
  assert.equal(waiting.of(other), 0, "two tabs wait");

  await page.evaluate(sayHidden(true));
  await eventually(
    async () => waiting.of(other),
    (count) => count === 1,
  );
  await eventually(
    async () => waiting.givenUpBy(page),
    (count) => count === 1,
  );
  assert.equal(waiting.of(page), 0, "a hidden tab waits");
  const [device] = await cloud().admin.call(api.devices.list, {});
  const moment = { start: START_NS, end: START_NS };
  await cloud().admin.call(api.events.create, { deviceId: device!.id, ...moment, metadata: { what: "bump" } });
  await other.getByText("bump").waitFor();
  assert.equal(await page.getByText("bump").count(), 0, "a hidden tab asks for something");
  await page.evaluate(sayHidden(false));
  await page.getByText("bump").waitFor();
  assert.deepEqual(complaints, []);
});

/**
 * Counts the calls for changes that are under way, and those that their tab gave up: what two tabs do may be heard of in another order than
 * they did it.
 */
function watchCalls(context: BrowserContext) {
  const [open, givenUp] = [new Map<Page, number>(), new Map<Page, number>()];
  const count = (counts: Map<Page, number>, by: number) => (request: Request) => {
    if (!new URL(request.url()).pathname.endsWith("/v1/changes")) return;
    const page = request.frame().page();
    counts.set(page, (counts.get(page) ?? 0) + by);
  };
  context.on("request", count(open, 1));
  context.on("requestfinished", count(open, -1));
  context.on("requestfailed", count(open, -1));
  context.on("requestfailed", count(givenUp, 1));
  return { of: (page: Page) => open.get(page) ?? 0, givenUpBy: (page: Page) => givenUp.get(page) ?? 0 };
}
