import assert from "node:assert/strict";
import { test } from "node:test";
import { api } from "@downlink/protocol";
import { eventually } from "@downlink/recordings/testing";
import type { Page } from "playwright-core";
import { findBarriers } from "./testing/axe.ts";
import { whyNoBrowser } from "./testing/browser.ts";
import { uploadFile } from "./testing/failed-uploads.ts";
import { makeSensorRecording, PICTURE } from "./testing/sensor-recording.ts";
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
  await list.locator("img.still").first().hover();
  await list.locator(".picture-card .picture-at").waitFor();
  await list.locator("h1").first().hover();
  await list.locator(".picture-card").waitFor({ state: "detached" });

  const { page: settings } = await scenario.open("/recordings");
  await settings.goto(new URL("/settings/projects", scenario.home).href);
  await settings.getByRole("button", { name: /^Actions of/ }).click();
  await settings.getByRole("menuitem", { name: /Change/ }).click();
  await settings.getByLabel(/Small pictures of what cameras saw/).selectOption("none");
  await settings.getByRole("button", { name: "Change the project" }).click();
  await settings.getByRole("dialog").waitFor({ state: "detached" });
  await list.reload();
  await list.getByText("sensors.mcap").waitFor();
  assert.equal(await list.locator("img.still").count(), 0);
  assert.deepEqual(complaints, []);
});

interface Painted {
  readonly width: number;
  readonly height: number;
  getContext(kind: "2d"): { getImageData(...at: number[]): { readonly data: Iterable<number> } };
}

/** Returns the colours at the start, in the middle and at the end of the film. */
function coloursOf(page: Page): Promise<number[][]> {
  return page.locator(".film-pictures canvas").evaluate((found) => {
    const canvas = found as unknown as Painted;
    const { width, height } = canvas;
    const context = canvas.getContext("2d");
    return [0.02, 0.5, 0.98].map((share) => [...context.getImageData(share * width, height / 2, 1, 1).data]);
  });
}

/** From the views to the overview, and by the sixth of twelve pictures back to its moment. */
async function lookAtOverview(page: Page): Promise<void> {
  await page.getByRole("link", { name: "Overview" }).click();
  await page.locator(".whole-track .track").waitFor();
  const { height } = (await page.getByLabel("Pictures of its cameras, and its track").boundingBox())!;
  assert.ok(height > 300, `the pictures and the track are ${height} high`);
  await page.locator(".film-times a").nth(5).click();
  await page.waitForURL(/at=/);
  await page.locator(".film-moment").getByText("+0:14.0").waitFor();
}

test("pictures stand in the film below the views, in the card over a lane and on an event's page", {
  skip,
  timeout: 240_000,
}, async (t) => {
  const scenario = await startConsole(t);
  await uploadFile(scenario, "sensors.mcap", await makeSensorRecording());
  await scenario.until("complete");
  const [{ id, start } = assert.fail()] = await scenario.recordings();
  const { page, complaints } = await scenario.open(`/recordings/${id}?topics=/ros2/camera`);
  const painted = [...PICTURE.color, 255];
  await eventually(
    () => coloursOf(page),
    (colours) => colours.every((colour) => colour.join() === painted.join()),
  );

  await lookAtOverview(page);

  const day = "from=2025-10-09T08:53:00Z&to=2025-10-09T08:54:00Z";
  await page.goto(`${scenario.home}/coverage?${day}`);
  const lanes = page.locator(".lanes-bars");
  const { width } = (await lanes.boundingBox())!;
  await eventually(
    async () => {
      await lanes.hover({ position: { x: width / 2 + Math.random(), y: 10 } });
      return page.locator(".hover-card").count();
    },
    (count) => count > 0,
  );
  await page.locator(".hover-card .picture-at").waitFor();

  const { admin } = scenario.cloud();
  const of = { deviceName: "rover", start, end: start };
  const event = await admin.call(api.events.create, of);
  await page.goto(`${scenario.home}/events`);
  await page.locator(`a[href$="${event.id}"]`).hover();
  await page.locator(".picture-card .picture-at").waitFor();
  await page.goto(`${scenario.home}/events/${event.id}`);
  await page.locator(".pictures a").first().waitFor();
  assert.deepEqual(await findBarriers(page), []);
  await page.locator(".pictures a").first().click();
  await page.waitForURL(/recordings.*topics=/);
  assert.deepEqual(complaints, []);
});
