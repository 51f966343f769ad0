import assert from "node:assert/strict";
import { test } from "node:test";
import { api } from "@downlink/protocol";
import { eventually } from "@downlink/recordings/testing";
import type { Page } from "playwright-core";
import { findBarriers } from "./testing/axe.ts";
import { whyNoBrowser } from "./testing/browser.ts";
import { type ConsoleScenario, startConsole } from "./testing/start-console.ts";

const skip = whyNoBrowser();
const files = { "run-1.mcap": 3, "run-2.mcap": 3 };

async function importAll({ recordings, cloud }: ConsoleScenario): Promise<void> {
  const recordingIds = (await recordings()).map(({ id }) => id);
  await cloud().admin.call(api.importRequests.create, { recordingIds });
  await eventually(recordings, (all) => all.every(({ importStatus }) => importStatus === "complete"));
}

async function markEvent(
  page: Page,
  { start, end, metadata }: { start: string; end: string; metadata: string },
): Promise<void> {
  await page.locator("#page").focus();
  await page.keyboard.press("e");
  const dialog = page.getByRole("dialog", { name: "Mark an event" });
  await dialog.getByLabel("Device").fill("rover");
  await dialog.getByLabel("Start").fill(start);
  await dialog.getByLabel("End").fill(end);
  await dialog.getByLabel("Metadata").fill(metadata);
  await dialog.getByRole("button", { name: "Mark" }).click();
  await dialog.waitFor({ state: "detached" });
}

test("events are marked, changed and become episodes, and these a dataset with versions", { skip }, async (t) => {
  const console = await startConsole(t, { files });
  await importAll(console);
  const { page, complaints } = await console.open("/events");
  await page.getByText("No event is marked yet.").waitFor();
  await markEvent(page, { start: "2025-10-09 08:53:20", end: "2025-10-09 08:53:22", metadata: "reason: estop" });
  await markEvent(page, {
    start: "2025-10-09 08:54:20.000000001",
    end: "2025-10-09 08:54:21",
    metadata: "reason: fall",
  });
  await markEvent(page, { start: "2025-12-09 08:54:20", end: "2025-12-09 08:54:21", metadata: "reason: none" });
  await changeEvent(page, console);
  await makeDataset(page, console.home);
  await commitTwoVersions(page);
  await restoreOverStaged(page);
  assert.deepEqual(await findBarriers(page), []);
  assert.deepEqual(complaints, []);
});

/** Changes an event in its dialog. Wrong input stays in the dialog, and the start keeps its last nanosecond. */
async function changeEvent(page: Page, { cloud }: ConsoleScenario): Promise<void> {
  await page.getByRole("row").filter({ hasText: "reason: estop" }).waitFor();
  const { admin } = cloud();
  const [, { id, start } = assert.fail()] = await admin.call(api.events.list, { sortBy: "start" });
  assert.equal(start, 1_760_000_060_000_000_001n);
  await page.getByRole("row").filter({ hasText: "reason: fall" }).getByRole("link").click();
  await page.getByRole("button", { name: "Change" }).click();
  const metadata = page.getByRole("dialog").getByLabel("Metadata");
  await metadata.fill("no metadata");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("is not written as key: value").waitFor();
  assert.equal(await metadata.inputValue(), "no metadata");
  await metadata.fill("reason: stumble");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("stumble").waitFor();
  assert.equal((await admin.call(api.events.get, { id })).start, start);
}

/** Makes a dataset of three events, of which one has no data, and adds a recording to it that a filter found. */
async function makeDataset(page: Page, home: string): Promise<void> {
  await page.goto(`${home}/events`);
  await page.getByRole("checkbox", { name: "Select" }).nth(2).waitFor();
  for (const box of await page.getByRole("checkbox", { name: "Select" }).all()) await box.check();
  await page.locator(".selection-bar").getByRole("button", { name: "Dataset…" }).click();
  const dialog = page.getByRole("dialog", { name: "Make a dataset, or add to one" });
  await dialog.getByText("An episode of each of 3 events.").waitFor();
  await dialog.getByLabel("Name", { exact: true }).fill("stumbles");
  await dialog.getByLabel("Message").fill("What the first week had");
  assert.deepEqual(await findBarriers(page), []);
  await dialog.getByRole("button", { name: "Make the dataset" }).click();
  await page
    .getByText("2 episodes added, 1 event without an imported recording left out, version 1 committed")
    .waitFor();

  await page.goto(`${home}/recordings?path=run-1`);
  await page.getByRole("button", { name: "Dataset…" }).click();
  await dialog.getByText("An episode of each of 1 imported recording: 3 s,").waitFor();
  await dialog.getByLabel("Dataset", { exact: true }).selectOption("stumbles");
  await dialog.getByRole("checkbox", { name: /^Commit it/ }).uncheck();
  await dialog.getByRole("button", { name: "Add to the dataset" }).click();
  await page.getByText("1 episode added").waitFor();
  await page.getByRole("link", { name: "See the dataset" }).click();
  await page.getByRole("heading", { name: "stumbles" }).waitFor();
  await page.getByText("Staged: +1 −0 episodes").waitFor();
  await page.getByText("by an API key: What the first week had").waitFor();
  const address = page.url();
  await addEpisodes(page, home, 3);
  await page.goto(address);
  await page.getByRole("button", { name: "Discard" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Discard" }).click();
}

async function commitTwoVersions(page: Page): Promise<void> {
  await stageRemoval(page);
  await page.getByRole("button", { name: "Commit version 2" }).click();
  await page.getByText("Version 2 is committed.").waitFor();
  await page.getByLabel("compared with").selectOption("1");
  await page.getByText("From version 1 to version 2: +0 −1 episodes").waitFor();
  await page.getByLabel("compared with").selectOption("0");
}

async function restoreOverStaged(page: Page): Promise<void> {
  await stageRemoval(page);
  await page.getByText("Staged: +0 −1 episodes").waitFor();
  await page.getByLabel("Show").selectOption("1");
  await page.getByRole("button", { name: "Restore version 1" }).click();
  await page.getByText("You have 1 staged change, which would be lost.").waitFor();
  await page.getByRole("button", { name: "Overwrite staged changes" }).click();
  await page.getByText("Staged: +1 −0 episodes").waitFor();
}

async function stageRemoval(page: Page): Promise<void> {
  await page.getByRole("checkbox", { name: "Select" }).first().check();
  await page.getByRole("button", { name: "Stage their removal" }).click();
}

async function addEpisodes(page: Page, home: string, count: number): Promise<void> {
  await page.goto(`${home}/episodes`);
  const boxes = page.getByRole("checkbox", { name: "Select" });
  await boxes.nth(count - 1).waitFor();
  for (const box of await boxes.all()) await box.check();
  await page.getByLabel("Dataset").selectOption({ label: "stumbles" });
  await page.getByRole("button", { name: "Add to it" }).click();
  await page.getByText(`0 staged, ${count} were there already.`).waitFor();
}

test("axe finds nothing on these pages, in both themes, on a desk and on a phone", { skip }, async (t) => {
  const console = await startConsole(t, { files });
  await importAll(console);
  const { admin } = console.cloud();
  const [{ start, projectId, id } = assert.fail()] = await console.recordings();
  const event = await admin.call(api.events.create, {
    deviceName: "rover",
    start,
    end: start,
    metadata: { reason: "estop" },
  });
  const recorded = [{ recordings: [id], metadata: { task: "pick" } }];
  const { episodes } = await admin.call(api.episodes.getOrCreate, { projectId, episodes: recorded });
  const episodeIds = episodes.map((episode) => episode.id);
  const dataset = await admin.call(api.datasets.create, { projectId, name: "picks", episodeIds });
  const pages = [
    "/events",
    `/events/${event.id}`,
    "/datasets",
    `/datasets/${dataset.id}`,
    "/episodes",
    `/episodes/${episodeIds[0]}`,
  ];
  for (const theme of ["light", "dark"] as const)
    for (const width of [390, 1280]) {
      const { page, complaints, context, settled } = await console.open("", { theme, width });
      for (const path of pages) {
        await page.goto(`${console.home}${path}`);
        await page.getByRole("heading", { level: 1 }).waitFor();
        await settled();
        assert.deepEqual(await findBarriers(page), [], `${path}, ${theme}, ${width} px`);
      }
      assert.deepEqual(complaints, []);
      await context.close();
    }
});
