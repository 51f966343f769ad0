import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { api } from "@downlink/protocol";
import { eventually, readMessages } from "@downlink/recordings/testing";
import type { Page } from "playwright-core";
import { findBarriers } from "./testing/axe.ts";
import { whyNoBrowser } from "./testing/browser.ts";
import { startConsole } from "./testing/start-console.ts";

const skip = whyNoBrowser();
/** Each begins a minute after the one before. */
const files = { "run-1.mcap": 30, "run-2.mcap": 30, "dock.mcap": 1 };
const RANGE = "from=2025-10-09T08:53:00Z&to=2025-10-09T08:58:00Z";

/** Waits until the line below the lanes shows this text for the place of the cursor. */
async function waitForStatus(page: Page, wanted: string): Promise<void> {
  await page.locator(".lanes-status").filter({ hasText: wanted }).waitFor();
}

async function chooseView(page: Page, name: string): Promise<void> {
  await page.getByRole("button", { name: "Views" }).click();
  await page.getByRole("menuitem", { name }).click();
}

/** A place in the first row, at a share of the width of the range. */
async function placeAt(page: Page, share: number): Promise<{ x: number; y: number }> {
  const box = (await page.locator(".lanes-bars").boundingBox())!;
  return { x: box.x + box.width * share, y: box.y + 14 };
}

/** Exports five seconds of the only device of the selection; a time that is none keeps the buttons, and says what is wrong. */
async function exportPart(page: Page): Promise<void> {
  await page.getByRole("region", { name: "Selection" }).getByRole("button", { name: "Export 1" }).click();
  const dialog = page.getByRole("dialog", { name: "Export" });
  await dialog.getByText(/^1 imported recording of /).waitFor();
  await dialog.getByLabel("From (UTC)").fill("2025-10-09 08:53:30");
  await dialog.getByLabel("To (UTC)").fill("half past");
  await dialog.getByText("“half past” is not a time").waitFor();
  const button = dialog.getByRole("button", { name: "Download" });
  assert.ok(await button.isDisabled());
  await dialog.getByLabel("To (UTC)").fill("2025-10-09 08:53:35");
  const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
  const times = readMessages(await readFile(await download.path())).map(({ logTimeNs }) => logTimeNs);
  assert.ok(times.length > 0);
  assert.ok(times.every((timeNs) => timeNs >= 1_760_000_010_000_000_000n && timeNs <= 1_760_000_015_000_000_000n));
}

test("what is on a robot alone is seen in its lane, asked for there, and seen to be imported", { skip }, async (t) => {
  const { open } = await startConsole(t, { files });
  const { page, complaints } = await open(`/coverage?${RANGE}`);
  await page.locator(".row-share").first().waitFor();
  const onTheRobot = await placeAt(page, 40 / 300);
  await page.mouse.click(onTheRobot.x, onTheRobot.y);
  await waitForStatus(page, "on the device only");
  const inspector = page.getByRole("region", { name: "Selection" });
  await inspector.getByText(/1 on the device only/).waitFor();
  await inspector.getByRole("link", { name: "run-1.mcap" }).waitFor();
  await inspector.getByRole("button", { name: /^Import 1 \(/ }).click();
  await page.getByRole("menuitem", { name: "Import first" }).click();
  await page.getByText("1 requested.").waitFor();
  await page.reload();
  for (let tries = 0; tries < 100; tries++) {
    await page.locator(".row-share").first().waitFor();
    await page.mouse.click(onTheRobot.x, onTheRobot.y);
    await page.locator(".lanes-status").filter({ hasText: ": " }).waitFor();
    if (/: imported/.test((await page.locator(".lanes-status").textContent()) ?? "")) break;
    await page.reload();
  }
  await waitForStatus(page, "imported");
  await exportPart(page);
  assert.deepEqual(complaints, []);
});

test("lanes are used with the keyboard alone: to an edge, closer, an event from here, and what is there as a list", {
  skip,
}, async (t) => {
  const { open } = await startConsole(t, { files });
  const { page, complaints } = await open(`/coverage?${RANGE}`);
  const lanes = page.getByRole("region", { name: /^Coverage of 1 devices?/ });
  await page.locator(".row-share").first().waitFor();
  await lanes.focus();
  await page.keyboard.press("Home");
  await waitForStatus(page, "08:53:00 UTC: no data");
  await page.keyboard.press("Control+ArrowRight");
  await waitForStatus(page, "on the device only");
  await page.keyboard.press("Control+ArrowRight");
  await waitForStatus(page, "no data");
  await page.keyboard.press("Control+ArrowLeft");
  await page.keyboard.press("ArrowRight");
  await waitForStatus(page, "on the device only");
  const before = page.url();
  await page.keyboard.press("+");
  await page.waitForURL((url) => url.href !== before);
  await waitForStatus(page, "on the device only");
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "run-1.mcap" }).waitFor();
  assert.equal(await page.getByRole("link", { name: "run-2.mcap" }).count(), 0);
  await page.goBack();
  await page.locator(".row-share").first().waitFor();
  await lanes.focus();
  await page.keyboard.press("e");
  const dialog = page.getByRole("dialog", { name: "Mark an event" });
  await dialog.waitFor();
  assert.match(page.url(), /\/coverage\?/);
  await page.goBack();
  await dialog.waitFor({ state: "detached" });
  assert.match(page.url(), /\/coverage\?/);
  assert.deepEqual(complaints, []);
});

test("where nothing is in the range the nearest data is one click away, and all of it fits", { skip }, async (t) => {
  const { open } = await startConsole(t, { files });
  const { page, complaints } = await open("/coverage?from=2025-12-01T00:00:00Z&to=2025-12-02T00:00:00Z");
  await page.getByText("Nothing in this range.").waitFor();
  await page.getByRole("button", { name: /^Latest before: 2025-10-09/ }).click();
  await page.getByText("Nothing in this range.").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Fit" }).click();
  await page.waitForURL(/from=2025-10-09T08:5/);
  await chooseView(page, "As a table");
  const cells = page.getByRole("row").filter({ hasText: "on the device only" });
  await cells.nth(2).waitFor(); // until then it shows the range of before
  assert.equal(await cells.count(), 3);
  assert.deepEqual(complaints, []);
});

test("dragging selects, with Shift it pans, the wheel zooms at the pointer, and the address follows", {
  skip,
}, async (t) => {
  const { open } = await startConsole(t, { files });
  const { page, complaints } = await open(`/coverage?${RANGE}`);
  await page.locator(".row-share").first().waitFor();
  const [left, right] = [await placeAt(page, 0.25), await placeAt(page, 0.75)];
  await page.mouse.move(right.x, right.y);
  await page.keyboard.down("Shift");
  await page.mouse.down();
  await page.mouse.move(left.x, left.y, { steps: 5 });
  await page.mouse.up();
  await page.keyboard.up("Shift");
  await page.waitForURL(/from=2025-10-09T08:55:30/);
  await page.goto(page.url().replace(/\?.*/, `?${RANGE}`));
  await page.locator(".row-share").first().waitFor();
  await page.mouse.move(left.x, left.y);
  await page.mouse.wheel(0, -400); // one row has nothing to scroll
  await page.waitForURL((url) => !url.search.includes("08:53:00Z"));
  const query = new URL(page.url()).searchParams;
  const [from, to] = [Date.parse(query.get("from")!), Date.parse(query.get("to")!)];
  assert.ok(to - from < 300_000);
  const pointed = from + (to - from) * 0.25;
  assert.ok(Math.abs(pointed - Date.parse("2025-10-09T08:54:15Z")) < 1500, new Date(pointed).toISOString());
  await page.mouse.down();
  await page.mouse.move(right.x, right.y, { steps: 5 });
  await page.mouse.up();
  await page.locator(".lane-selection").waitFor();
  await page.keyboard.press("Escape");
  await page.locator(".lane-selection").waitFor({ state: "detached" });
  assert.deepEqual(complaints, []);
});

test("the card at the pointer says what is below it, and what the legend hides is neither listed nor imported", {
  skip,
}, async (t) => {
  const { open } = await startConsole(t, { files });
  const { page, complaints } = await open(`/coverage?${RANGE}`);
  await page.locator(".row-share").first().waitFor();
  const selection = page.getByRole("region", { name: "Selection" });
  await selection.getByRole("heading", { name: /^In sight: / }).waitFor();
  const beside = await placeAt(page, 28 / 300); // some pixels before the data begins
  await page.mouse.move(beside.x, beside.y);
  await page.locator(".hover-card").getByText("1 on the device only").waitFor();
  await selection.getByRole("button", { name: /^Import 3 \(/ }).waitFor();
  await page.getByRole("button", { name: "On the device" }).click();
  await page.waitForURL(/hide=edgeOnly/);
  await selection.getByRole("button", { name: /^Import 3 \(/ }).waitFor({ state: "detached" });
  assert.equal(await selection.getByRole("link", { name: /\.mcap$/ }).count(), 0);
  await page.mouse.move(beside.x, beside.y + 1);
  await page.locator(".hover-card").waitFor({ state: "detached" });
  assert.deepEqual(complaints, []);
});

test("a first visit shows where the data is, and devices are narrowed by terms that can be taken away", {
  skip,
}, async (t) => {
  const { open, cloud } = await startConsole(t, { files });
  await cloud().admin.call(api.devices.create, { name: "picker-7" });
  const { page, complaints } = await open("/coverage");
  await page.waitForURL(/from=2025-10-09T08:5/);
  await page.getByRole("region", { name: "Coverage of 2 devices" }).waitFor();
  const filter = page.getByRole("combobox", { name: /^Devices: / });
  await filter.fill("picker");
  await filter.press("Enter");
  await page.getByRole("region", { name: "Coverage of 1 devices" }).waitFor();
  await page.getByRole("button", { name: "No longer picker" }).click();
  await page.getByRole("region", { name: "Coverage of 2 devices" }).waitFor();
  assert.deepEqual(complaints, []);
});

const COUNT = 71;

/** Opens the coverage of the robot and of 70 devices without data, and selects all of them. */
async function selectAll(t: Parameters<typeof startConsole>[0]) {
  const { open, cloud } = await startConsole(t, { files });
  const { admin } = cloud();
  for (let number = 1; number < COUNT; number++) await admin.call(api.devices.create, { name: `z-${number}` });
  const { page, complaints } = await open(`/coverage?${RANGE}&row=4`);
  await page.getByRole("region", { name: `Coverage of ${COUNT} devices` }).waitFor();
  const [first, last] = [await placeAt(page, 0.05), await placeAt(page, 0.9)];
  await page.mouse.move(first.x, first.y - 12);
  await page.mouse.down();
  await page.mouse.move(last.x, last.y - 12 + 4 * (COUNT - 1), { steps: 5 });
  await page.mouse.up();
  const inspector = page.getByRole("region", { name: "Selection" });
  await inspector.getByText(`${COUNT} devices`).waitFor();
  await inspector.getByText(/^3 on the device only/).waitFor();
  return { admin, page, complaints, inspector };
}

test("an import of much is named with its size and asked about first, and the selection outlives a reload", {
  skip,
}, async (t) => {
  const { page, complaints, inspector } = await selectAll(t);
  await page.route("**/v1/data/coverage-grid**", async (route) => {
    const answer = await route.fetch();
    await route.fulfill({
      response: answer,
      body: (await answer.text()).replace(/"bytes":\d+/g, '"bytes":200000000000'),
    });
  });
  await page.reload(); // the address has the selection
  await inspector.getByRole("button", { name: "Import 3 (28 TB)" }).click();
  await page.getByRole("menuitem", { name: "Import first" }).click();
  const question = page.getByRole("dialog", { name: "Import 3 (28 TB)?" });
  await question.getByText("over their own links").waitFor();
  assert.deepEqual(await findBarriers(page), []);
  await question.getByRole("button", { name: "Cancel" }).click();
  await page.unroute("**/v1/data/coverage-grid**");
  assert.deepEqual(complaints, []);
});

test("a selection is whole, however many devices it has: opened, there again after Back, imported and marked", {
  skip,
}, async (t) => {
  const { admin, page, complaints, inspector } = await selectAll(t);
  await inspector.getByRole("link", { name: "Open" }).click();
  await page.getByRole("button", { name: `✕ ${COUNT} devices` }).waitFor();
  await page.getByRole("link", { name: "run-1.mcap" }).waitFor();
  assert.equal(await page.getByRole("link", { name: /\.mcap$/ }).count(), 3);
  await page.goBack();
  await inspector.getByText(`${COUNT} devices`).waitFor();
  await page.locator(".lane-selection").waitFor();
  await inspector.getByRole("button", { name: /^Import 3 \(/ }).click();
  await page.getByRole("menuitem", { name: "Import first" }).click();
  await page.getByText("3 requested.").waitFor();
  await page.getByRole("link", { name: "See the queue" }).waitFor();

  await inspector.getByRole("button", { name: "Event" }).click();
  const dialog = page.getByRole("dialog", { name: "Mark an event" });
  await dialog.getByText(`An event on each of ${COUNT} devices`).waitFor();
  await dialog.getByRole("button", { name: "Mark", exact: true }).click();
  await page.getByText(`${COUNT} events were marked.`).waitFor();
  const marked = await admin.call(api.events.list, { limit: 2000 });
  assert.equal(new Set(marked.map(({ deviceId }) => deviceId)).size, COUNT);
  assert.deepEqual(complaints, []);
});

test("Back leads to where the lanes were scrolled to", { skip }, async (t) => {
  const { open, cloud } = await startConsole(t, { files });
  for (let number = 1; number < COUNT; number++) await cloud().admin.call(api.devices.create, { name: `z-${number}` });
  const { page, complaints } = await open(`/coverage?${RANGE}`);
  const lanes = page.getByRole("region", { name: `Coverage of ${COUNT} devices` });
  await lanes.evaluate((element) => element.scrollTo(0, 800));
  await eventually(
    () => page.evaluate<number>("history.state?.lanes"),
    (topPx) => topPx === 800,
  );
  await page.getByRole("link", { name: /^z-4\b/ }).click();
  await page.getByText("No agent of this device has ever connected.").waitFor();
  assert.match(page.url(), /devices\/z-4$/);
  await page.goBack();
  await lanes.waitFor();
  assert.equal(await lanes.evaluate((element) => element.scrollTop), 800);
  assert.deepEqual(complaints, []);
});

test("tiles that the service cannot give are named and asked for again, and are never shown as no data", {
  skip,
}, async (t) => {
  const { open } = await startConsole(t, { files });
  const { page } = await open("/recordings");
  let refused = 0;
  await page.route("**/v1/data/coverage-grid**", (route) => {
    refused += 1;
    return route.fulfill({
      status: 503,
      headers: { "retry-after": "600" },
      contentType: "application/json",
      body: '{"error":"too many expensive calls","code":"Unavailable"}',
    });
  });
  await page.goto(page.url().replace(/recordings.*/, `coverage?${RANGE}`));
  await page.getByRole("alert").first().waitFor();
  await waitForStatus(page, "not loaded yet");
  assert.ok(refused > 0);
  await page.unroute("**/v1/data/coverage-grid**");
  await page.getByRole("button", { name: "Try again" }).first().click();
  await page.getByRole("alert").first().waitFor({ state: "detached" });
  await page.getByRole("region", { name: /^Coverage of/ }).focus();
  await page.keyboard.press("Home");
  await waitForStatus(page, "no data");
});

test("axe finds nothing, in both themes, on a desk and on a phone, as lanes and as a table", { skip }, async (t) => {
  const { open } = await startConsole(t, { files });
  for (const theme of ["light", "dark"] as const)
    for (const width of [390, 1280]) {
      const { page, complaints, context } = await open(`/coverage?${RANGE}`, { theme, width });
      await page.locator(".dot").first().waitFor();
      const place = await placeAt(page, 40 / 300);
      await page.mouse.click(place.x, place.y);
      await page.getByRole("region", { name: "Selection" }).getByRole("link", { name: "run-1.mcap" }).waitFor();
      assert.deepEqual(await findBarriers(page), [], `${theme}, ${width} px`);
      await chooseView(page, "As a table");
      await page.getByRole("row").nth(1).waitFor();
      assert.deepEqual(await findBarriers(page), [], `table, ${theme}, ${width} px`);
      assert.deepEqual(complaints, []);
      await context.close();
    }
});
