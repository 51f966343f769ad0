// One walk through what the pages are for, in one browser: what CI runs where Chromium is installed. The files beside this one try each page
// whole.

import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { eventually, readMessages } from "@downlink/recordings/testing";
import type { Page } from "playwright-core";
import { whyNoBrowser } from "./testing/browser.ts";
import { makeSensorRecording } from "./testing/sensor-recording.ts";
import { type ConsoleScenario, startConsole } from "./testing/start-console.ts";

const FILE = "sensors.mcap";
const RANGE = "from=2025-10-09T08:53:00Z&to=2025-10-09T08:54:00Z";
/** Where the recording lies in the range: it begins after 20 s of the minute, and lasts 30 s. */
const [BEFORE, AFTER] = [0.25, 0.9];
const MESSAGE = "The first drive, as it came from the robot";

test("a recording is found, selected, imported, looked at, exported and put into a dataset, and every other page opens", {
  skip: whyNoBrowser(),
  timeout: 240_000,
}, async (t) => {
  const scenario = await startConsole(t);
  await writeFile(join(scenario.storageRoot, FILE), await makeSensorRecording());
  scenario.startAgent();
  await eventually(scenario.recordings, ({ length }) => length === 1);
  const { page, complaints } = await scenario.open("/recordings");

  await findBySearch(page, { text: "rover", title: "rover" });
  await findBySearch(page, { text: "cover", title: "Coverage" });
  await page.goto(`${scenario.home}/coverage?${RANGE}`);
  await selectByDragging(page);
  await importSelection(page, scenario);
  await page.reload();
  await lookAtViews(page);
  await page.goBack();
  await exportSelection(page);
  await makeDataset(page);
  await openOthers(page, scenario.home);
  assert.deepEqual(complaints, []);
});

async function findBySearch(page: Page, { text, title }: { text: string; title: string }): Promise<void> {
  await page.getByRole("heading", { level: 1 }).waitFor();
  await page.keyboard.press("/");
  await page.getByRole("combobox", { name: "Search" }).fill(text);
  await page.getByRole("option", { name: title, selected: true }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: title }).waitFor();
}

/** Drags over the lane of the only robot, from before the recording to its end. */
async function selectByDragging(page: Page): Promise<void> {
  await page.locator(".row-share").first().waitFor();
  const box = (await page.locator(".lanes-bars").boundingBox())!;
  const y = box.y + 14;
  await page.mouse.move(box.x + box.width * BEFORE, y);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * AFTER, y, { steps: 5 });
  await page.mouse.up();
  await page.locator(".lane-selection").waitFor();
}

function panelOf(page: Page) {
  return page.getByRole("region", { name: "Selection", exact: true });
}

async function importSelection(page: Page, { recordings }: ConsoleScenario): Promise<void> {
  await panelOf(page).getByText("1 on the device only").waitFor();
  await panelOf(page)
    .getByRole("button", { name: /^Import 1 \(/ })
    .click();
  await page.getByRole("menuitem", { name: "Import first" }).click();
  await page.getByText("1 requested.").waitFor();
  await eventually(recordings, ([recording]) => recording?.importStatus === "complete");
}

/** Opens the recording from the panel, which a reload left selected, and sees a picture of its camera and a plot. */
async function lookAtViews(page: Page): Promise<void> {
  await panelOf(page).getByRole("link", { name: FILE }).click();
  await page.getByRole("heading", { level: 1, name: FILE }).waitFor();
  await page.getByRole("region", { name: "/ros2/camera" }).getByText("64 × 48").waitFor();
  await page.getByRole("region", { name: "/protobuf/speed" }).locator("canvas").waitFor();
}

/** Exports what is selected from the panel, and reads the file: it has every topic of the recording. */
async function exportSelection(page: Page): Promise<void> {
  await panelOf(page).getByRole("button", { name: "Export 1" }).click();
  const dialog = page.getByRole("dialog", { name: "Export" });
  const download = page.waitForEvent("download");
  await dialog.getByRole("button", { name: "Download" }).click();
  const messages = readMessages(await readFile(await (await download).path()));
  assert.equal(messages.filter(({ topic }) => topic === "/ros2/motion").length, 2301);
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
}

async function makeDataset(page: Page): Promise<void> {
  await panelOf(page).getByRole("button", { name: "Dataset…" }).click();
  const dialog = page.getByRole("dialog", { name: "Make a dataset, or add to one" });
  await dialog.getByLabel("Name", { exact: true }).fill("drives");
  await dialog.getByLabel("Message").fill(MESSAGE);
  await dialog.getByRole("button", { name: "Make the dataset" }).click();
  await page.getByText("1 episode added, version 1 committed").waitFor();
  await page.getByRole("link", { name: "See the dataset" }).click();
  await page.getByRole("heading", { level: 1, name: "drives" }).waitFor();
  await page.getByText(`by an API key: ${MESSAGE}`).waitFor();
}

/** Each is opened by its address, and shows its heading and nothing that failed. */
async function openOthers(page: Page, home: string): Promise<void> {
  const ofProject = ["/imports", "/devices/rover", "/events", "/episodes", "/datasets"].map((path) => home + path);
  const settings = ["keys", "tokens", "members", "webhooks", "audit"].map((name) => `/settings/${name}`);
  for (const url of [...ofProject, ...[...settings, "/sites"].map((path) => new URL(path, home).href)]) {
    await page.goto(url);
    await page.locator("main h1").first().waitFor();
    assert.equal(await page.getByRole("alert").count(), 0, url);
  }
}
