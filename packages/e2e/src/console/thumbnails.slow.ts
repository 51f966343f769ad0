import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "@downlink/recordings/testing";
import type { Page } from "playwright-core";
import { findBarriers } from "./testing/axe.ts";
import { whyNoBrowser } from "./testing/browser.ts";
import { uploadFile } from "./testing/failed-uploads.ts";
import { makeSensorRecording } from "./testing/sensor-recording.ts";
import { startConsole } from "./testing/start-console.ts";

const skip = whyNoBrowser();

/** Waits until a picture was loaded, and returns its width. */
async function widthOf(page: Page, selector: string): Promise<number> {
  const picture = page.locator(selector).first();
  await picture.waitFor();
  return eventually(
    () => picture.evaluate((image: { naturalWidth: number }) => image.naturalWidth),
    (width) => width > 0,
  );
}

test("a list shows a picture of each recording, its page the film of each camera, and a project without them shows none", {
  skip,
  timeout: 240_000,
}, async (t) => {
  const scenario = await startConsole(t);
  await uploadFile(scenario, "sensors.mcap", await makeSensorRecording());
  await scenario.until("complete");
  const [{ id } = assert.fail()] = await scenario.recordings();
  const { page, complaints } = await scenario.open(`/recordings/${id}?tab=overview`);
  assert.ok((await widthOf(page, ".film-strip img")) > 0);
  assert.equal(await page.locator(".film-times a").count(), 2 * 12);
  assert.deepEqual(await findBarriers(page), []);
  await page.locator(".film-times a").nth(1).click();
  await page.waitForURL(/topics=/);

  const { page: list } = await scenario.open("/recordings");
  assert.ok((await widthOf(list, "img.still")) > 0);
  assert.deepEqual(await findBarriers(list), []);

  const { page: settings } = await scenario.open("/recordings");
  await settings.goto(new URL("/settings/projects", scenario.home).href);
  await settings.getByRole("button", { name: /^Actions of/ }).click();
  await settings.getByRole("menuitem", { name: /Change/ }).click();
  await settings.getByLabel(/Small pictures of what cameras saw/).uncheck();
  await settings.getByRole("button", { name: "Change the project" }).click();
  await settings.getByRole("dialog").waitFor({ state: "detached" });
  await list.reload();
  await list.getByText("sensors.mcap").waitFor();
  assert.equal(await list.locator("img.still").count(), 0);
  assert.deepEqual(complaints, []);
});
