// One short path of each page, in one browser: what CI runs where Chromium is installed. The files beside this one try each page whole.

import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "@downlink/recordings/testing";
import type { Page } from "playwright-core";
import { whyNoBrowser } from "./testing/browser.ts";
import { startConsole } from "./testing/start-console.ts";

const FILE = "run-1.mcap";

test("a file is found, asked for, looked into, seen on the timeline, and every other page opens", {
  skip: whyNoBrowser(),
}, async (t) => {
  const scenario = await startConsole(t, { files: { [FILE]: 3 } });
  const { page, complaints } = await scenario.open("/recordings");
  const open = (path: string) => page.goto(scenario.home + path);

  await page.getByRole("link", { name: FILE }).waitFor();
  await page.getByRole("checkbox", { name: "Select" }).first().check();
  await page.getByRole("button", { name: "Import" }).click();
  await page.getByRole("menuitem", { name: "Import first" }).click();
  await page.getByText("1 requested").waitFor();
  await eventually(scenario.recordings, ([recording]) => recording?.importStatus === "complete");

  await open("/imports");
  await page.getByRole("link", { name: "Done" }).click();
  await page.getByRole("row").filter({ hasText: FILE }).waitFor();

  await open("/recordings");
  await page.getByRole("link", { name: FILE }).click();
  await page.locator(".recording-state").filter({ hasText: "Imported" }).waitFor();

  await open("/coverage?from=2025-10-09&to=2025-10-10");
  await page.locator(".row-share").first().waitFor();

  await open("/devices");
  await page.getByRole("link", { name: "rover" }).click();
  await page.getByText("Last seen").waitFor();
  await openOthers(page, scenario.home);
  assert.deepEqual(complaints, []);
});

/** Each is opened by its address, and shows its heading and nothing that failed. */
async function openOthers(page: Page, home: string): Promise<void> {
  const ofProject = ["/events", "/episodes", "/datasets"].map((path) => home + path);
  const settings = ["keys", "tokens", "members", "webhooks", "audit"].map((name) => `/settings/${name}`);
  for (const url of [...ofProject, ...[...settings, "/sites"].map((path) => new URL(path, home).href)]) {
    await page.goto(url);
    await page.locator("main h1").first().waitFor();
    assert.equal(await page.getByRole("alert").count(), 0, url);
  }
}
