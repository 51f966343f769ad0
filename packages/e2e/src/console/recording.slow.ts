import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { api } from "@downlink/protocol";
import { eventually, makeBag, readMessages } from "@downlink/recordings/testing";
import type { Locator, Page } from "playwright-core";
import { findBarriers } from "./testing/axe.ts";
import { whyNoBrowser } from "./testing/browser.ts";
import { makeSensorRecording, PICTURE, RAW } from "./testing/sensor-recording.ts";
import { type ConsoleScenario, startConsole } from "./testing/start-console.ts";

const skip = whyNoBrowser();

test("an imported recording opens on a camera, a plot, a log and a track, which can be changed, enlarged and closed", {
  skip,
  timeout: 240_000,
}, async (t) => {
  const scenario = await startWithRecordings(t);
  const { page, complaints } = await scenario.open("/recordings");
  await page.getByRole("link", { name: "sensors.mcap" }).click();

  const camera = viewOf(page, "/ros2/camera");
  await camera.getByText(`${PICTURE.width} × ${PICTURE.height}`).waitFor();
  assert.deepEqual(await pixelOf(page, "/ros2/camera"), [...PICTURE.color, 255]);
  await viewOf(page, "/protobuf/speed").locator("canvas").waitFor();
  await viewOf(page, "/json/log").getByRole("row").filter({ hasText: "waypoint 1 reached" }).waitFor();
  await viewOf(page, "/json/fix")
    .getByText(/^21 positions, \d+ m$/)
    .waitFor();
  assert.match(page.url(), /\/recordings\/[^?]+$/, "nothing was chosen");

  await camera.getByRole("button", { name: "Next picture" }).click();
  await page.getByText("2 of 101").waitFor();
  await page.keyboard.press("f");
  await viewOf(page, "/json/fix").waitFor({ state: "detached" });
  await page.keyboard.press("Escape");
  await viewOf(page, "/json/fix").waitFor();

  await viewOf(page, "/json/fix").getByLabel("Topic").selectOption("/ros2/motion");
  await page.getByText("1 gap, the longest of 7.00 s").waitFor();
  await viewOf(page, "/json/log").getByLabel("Topic").selectOption("/json/raw");
  await viewOf(page, "/json/raw").getByText(`${RAW.width} × ${RAW.height}`).waitFor();
  assert.deepEqual(await pixelOf(page, "/json/raw"), [RAW.grey, RAW.grey, RAW.grey, 255]);
  await camera.getByRole("button", { name: "Close the view" }).click();
  await camera.waitFor({ state: "detached" });
  assert.match(page.url(), /topics=\/protobuf\/speed,\/json\/raw,\/ros2\/motion$/);
  await page.getByLabel("Add a view").selectOption("/ros2/camera");
  await camera.getByText("of 101").waitFor();
  assert.deepEqual(complaints, []);
});

test("a recording plays, and its moment is moved by a line of the log, by the keyboard and to another part", {
  skip,
  timeout: 240_000,
}, async (t) => {
  const scenario = await startWithRecordings(t);
  const { page, complaints } = await scenario.open("/recordings");
  await page.getByRole("link", { name: "sensors.mcap" }).click();
  const log = viewOf(page, "/json/log");
  const moment = page.locator(".film-moment");
  await log.getByText("waypoint 2 reached").waitFor();
  await moment.getByText("+0:00.0").waitFor();

  await page.getByLabel("Speed", { exact: true }).selectOption("0.5");
  await page.getByRole("heading", { level: 1 }).click();
  await page.keyboard.press("Space");
  await moment.filter({ hasNotText: "+0:00" }).waitFor();
  await page.getByRole("button", { name: "Pause" }).click();
  await log.locator("tr[aria-current]").filter({ hasNotText: "waypoint 1 " }).waitFor();
  await viewOf(page, "/ros2/camera").locator("figcaption").filter({ hasNotText: "1 of 101" }).waitFor();

  await log.getByRole("searchbox").fill("waypoint 2 ");
  await log.getByRole("row").getByRole("button").click();
  await moment.getByText("+0:01.0").waitFor();
  await viewOf(page, "/ros2/camera").getByText("6 of 101").waitFor();
  const slider = page.getByRole("slider", { name: "Moment" });
  await slider.press("End");
  await moment.getByText("+0:20.0").waitFor();
  await slider.press("Space");
  await page.getByRole("button", { name: "Pause" }).waitFor();
  await slider.press("Space");
  await page.getByRole("button", { name: "Play" }).waitFor();
  await page.getByRole("slider", { name: "Part of the recording" }).press("End");
  await page.waitForURL(/from=2025-10-09T08:53:29.99Z&to=2025-10-09T08:53:49.99Z/);
  await viewOf(page, "/json/fix")
    .getByText(/^20 positions/)
    .waitFor();
  assert.deepEqual(complaints, []);
});

test("an event of the device is a mark on the film that leads to its moment, and a key makes one of the moment", {
  skip,
  timeout: 240_000,
}, async (t) => {
  const scenario = await startWithRecordings(t);
  await markEvent(scenario);
  const { page, complaints } = await scenario.open("/recordings");
  await page.getByRole("link", { name: "sensors.mcap" }).click();
  await page.getByRole("button", { name: "Event, 2025-10-09 08:53:25 UTC" }).click();
  await page.locator(".film-moment").getByText("+0:05.0").waitFor();
  assert.deepEqual(await findBarriers(page), []);

  await page.getByRole("button", { name: "Add to dataset" }).click();
  const dataset = page.getByRole("dialog");
  await dataset.getByText("An episode of each of 1 recording.").waitFor();
  await page.keyboard.press("Escape");
  await dataset.waitFor({ state: "detached" });
  await page.keyboard.press("e");
  const dialog = page.getByRole("dialog", { name: "Mark an event" });
  const device = dialog.getByLabel("Device");
  await device.waitFor();
  assert.equal(await dialog.getByLabel("Start").inputValue(), "2025-10-09T08:53:25Z");
  await page.goBack();
  await dialog.waitFor({ state: "detached" });
  await page.reload();
  await page.locator(".film-moment").getByText("+0:05.0").waitFor();
  assert.match(page.url(), /\/recordings\/[^?]+$/);
  await page.keyboard.press("e");
  await dialog.getByRole("button", { name: /^Mark/ }).click();
  await dialog.waitFor({ state: "detached" });
  await page.locator(".film-moment").getByText("+0:05.0").waitFor();
  const events = await scenario.cloud().admin.call(api.events.list, {});
  assert.deepEqual(
    events.map(({ start, end }) => [start, end - start]).sort(),
    [
      [EVENT_NS, 2_000_000_000n],
      [EVENT_NS, 0n],
    ].sort(),
  );
  assert.deepEqual(complaints, []);
});

test("the overview of a recording leads to a topic, of which other fields are drawn, and an exact part of it is fetched", {
  skip,
  timeout: 240_000,
}, async (t) => {
  const scenario = await startWithRecordings(t);
  const { page, complaints } = await scenario.open("/recordings");
  await page.getByRole("link", { name: "sensors.mcap" }).click();
  await page.getByRole("link", { name: "Overview" }).click();
  const row = page.getByRole("row").filter({ hasText: "/ros2/motion" });
  await row.waitFor();
  assert.match((await row.textContent()) ?? "", /2,301\s*76\.7 Hz[\s\S]*7 s/);
  assert.match((await page.locator(".recording-state").textContent()) ?? "", /Its data is here since/);
  await page.getByText("operator").waitFor();

  await row.getByRole("link").click();
  const view = viewOf(page, "/ros2/motion");
  await view.getByRole("listitem").filter({ hasText: "y" }).waitFor();
  await view.getByRole("button", { name: "Fields and message" }).click();
  await view.getByRole("checkbox", { name: "y", exact: true }).uncheck();
  await view.locator(".tree").getByText("x", { exact: true }).waitFor();
  await view.getByRole("button", { name: "Back to the view" }).click();
  await view.getByRole("img", { name: "1 lines over 20.0 s" }).waitFor();
  assert.match(page.url(), /topics=\/ros2\/motion&lines=\/ros2\/motion(@|%40)\/x$/);
  await page.getByText("20 s of 30 s").waitFor();
  await page.getByRole("button", { name: "Widen" }).click();
  await page.getByText("30 s of 30 s").waitFor();
  await view.getByRole("img", { name: "1 lines over 30.0 s" }).waitFor();
  await exportPart(page);
  assert.deepEqual(complaints, []);
});

test("messages of a ROS 1 bag are looked into, and keys lead to the neighbours", {
  skip,
  timeout: 240_000,
}, async (t) => {
  const scenario = await startWithRecordings(t);
  const { page, complaints } = await scenario.open("/recordings");
  await page.getByRole("link", { name: "drive.bag" }).click();
  const imu = viewOf(page, "/imu");
  await imu.getByText("linear_acceleration.x").waitFor();
  await imu.locator("canvas").waitFor();
  await imu.getByRole("button", { name: "Fields and message" }).click();
  await imu.locator(".tree").getByText("imu_link").waitFor();
  await page.getByRole("heading", { level: 1 }).click();
  await page.getByRole("link", { name: "Earlier recording of rover, 9 Oct 2025 08:53 UTC" }).waitFor();
  await page.keyboard.press("[");
  await page.getByRole("heading", { name: "sensors.mcap" }).waitFor();
  await page.getByRole("link", { name: /^Later recording of rover, / }).waitFor();
  await page.keyboard.press("]");
  await page.getByRole("heading", { name: "drive.bag" }).waitFor();

  const dialog = page.getByRole("dialog", { name: "Delete imported data" });
  await askToDelete(page);
  await dialog.getByRole("button", { name: "Keep it" }).click();
  await dialog.waitFor({ state: "detached" });
  await askToDelete(page);
  await dialog.getByRole("button", { name: /^Delete / }).click();
  await page.getByText("was deleted").waitFor();
  await page.getByRole("link", { name: "drive.bag" }).click();
  await page.getByText("Only rover has it.").waitFor();
  await page.keyboard.press("i");
  await page.getByText("Its import was requested").first().waitFor();
  await scenario.until("complete");
  assert.deepEqual(complaints, []);
});

test("axe finds nothing on any tab, in both themes, on a desk and on a phone", {
  skip,
  timeout: 400_000,
}, async (t) => {
  const scenario = await startWithRecordings(t);
  const [sensors] = (await scenario.recordings()).filter(({ path }) => path === "sensors.mcap");
  for (const theme of ["light", "dark"] as const)
    for (const width of [390, 1280])
      for (const query of ["?tab=overview", "", FIELDS, "?tab=attachments", "?tab=history"])
        await lookAt(scenario, `/recordings/${sensors!.id}${query}`, { theme, width });
});

test("a dialog has the focus in its first field, Back closes it, and typed text is not thrown away without a question", {
  skip,
  timeout: 240_000,
}, async (t) => {
  const scenario = await startWithRecordings(t);
  const { page, complaints } = await scenario.open("/recordings");
  await page.getByRole("link", { name: "sensors.mcap" }).click();
  await page.getByRole("button", { name: "Export…" }).click();
  const exporting = page.getByRole("dialog", { name: "Export" });
  await focusIn(exporting, "From");
  await page.goBack();
  await exporting.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Export…" }).click();
  await exporting.waitFor();
  await page.reload(); // a reload shows no dialog, and leaves no entry of one behind
  await page.getByRole("button", { name: "Export…" }).waitFor();
  assert.equal(await exporting.count(), 0);
  await page.goBack();
  await page.getByRole("heading", { name: "Recordings" }).waitFor();

  await page.goto(`${scenario.home}/events`);
  await page.getByRole("button", { name: "Mark an event" }).click();
  const marking = page.getByRole("dialog", { name: "Mark an event" });
  await focusIn(marking, "Device");
  await page.keyboard.type("rover");
  for (const _ of "123") await page.keyboard.press("Escape"); // the browser closes by itself what a second one is to close
  await marking.getByText("What you typed is not saved.").waitFor();
  await marking.getByRole("button", { name: "Stay" }).click();
  await page.goBack();
  await marking.getByText("What you typed is not saved.").waitFor();
  assert.equal(await marking.getByLabel("Device").inputValue(), "rover");
  await marking.getByRole("button", { name: "Throw it away" }).click();
  await marking.waitFor({ state: "detached" });
  assert.deepEqual(complaints, []);
});

/** Waits until the field with this label has the focus. */
async function focusIn(dialog: Locator, label: string): Promise<void> {
  await dialog.getByLabel(label).and(dialog.locator(":focus")).waitFor();
}

/** The folder for pictures of the pages, which a developer can look at; undefined: none are written. */
const SHOTS = process.env.CONSOLE_SHOTS;

async function lookAt(
  { open }: ConsoleScenario,
  path: string,
  look: { theme: "light" | "dark"; width: number },
): Promise<void> {
  const { page, complaints, context, settled } = await open(path, look);
  const name = `${look.theme}-${look.width}-${/(?:tab|topics)=(\S+)/.exec(path)?.[1]?.replaceAll("/", ".") ?? "views"}`;
  await page.getByRole("heading", { name: "sensors.mcap" }).waitFor();
  if (name.endsWith("overview")) await page.getByRole("row").nth(3).waitFor();
  if (name.endsWith("views")) await page.getByText("1 of 101").waitFor();
  if (name.endsWith("motion")) {
    await page.getByRole("row").filter({ hasText: "0 rounds" }).waitFor();
    await viewOf(page, "/ros2/motion").getByRole("button", { name: "Fields and message" }).click();
  }
  await settled();
  if (SHOTS) await page.screenshot({ path: join(SHOTS, `${name}.png`), fullPage: true });
  assert.deepEqual(await findBarriers(page), [], name);
  if (name.endsWith("overview")) await lookAtExport(page, SHOTS && join(SHOTS, `${name}-export.png`));
  assert.deepEqual(complaints, []);
  await context.close();
}

const FIELDS = "?topics=/json/diagnostics,/ros2/motion";

async function lookAtExport(page: Page, shot: string | undefined): Promise<void> {
  await page.getByRole("button", { name: "Export…" }).click();
  await page.getByRole("dialog", { name: "Export" }).getByText("curl", { exact: true }).click();
  if (shot) await page.screenshot({ path: shot });
  assert.deepEqual(await findBarriers(page), [], "export dialog");
}

async function startWithRecordings(t: Parameters<typeof startConsole>[0]): Promise<ConsoleScenario> {
  const scenario = await startConsole(t);
  await writeFile(join(scenario.storageRoot, "sensors.mcap"), await makeSensorRecording());
  await writeFile(join(scenario.storageRoot, "drive.bag"), await makeBag());
  scenario.startAgent();
  const found = await eventually(scenario.recordings, (all) => all.length === 2);
  const { admin } = scenario.cloud();
  for (const { id } of found) await admin.call(api.recordings.requestImport, { keyOrId: id });
  await eventually(scenario.recordings, (all) => all.every(({ importStatus }) => importStatus === "complete"));
  return scenario;
}

const EVENT_NS = 1_760_000_005_000_000_000n;

/** Marks two seconds of the device whose recordings they are. */
async function markEvent({ cloud, recordings }: ConsoleScenario): Promise<void> {
  const [recording] = await recordings();
  await cloud().admin.call(api.events.create, {
    deviceId: recording!.device!.id,
    start: EVENT_NS,
    end: EVENT_NS + 2_000_000_000n,
  });
}

function viewOf(page: Page, topic: string): Locator {
  return page.getByRole("region", { name: topic, exact: true });
}

async function askToDelete(page: Page): Promise<void> {
  await page.getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name: "Delete data" }).click();
}

function pixelOf(page: Page, topic: string): Promise<number[]> {
  return viewOf(page, topic)
    .locator("canvas.image")
    .evaluate((canvas: never) => {
      const context = (
        canvas as { getContext(kind: "2d"): { getImageData(...at: number[]): { data: Iterable<number> } } }
      ).getContext("2d");
      return [...context.getImageData(1, 1, 1, 1).data];
    });
}

async function exportPart(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Export…" }).click();
  const dialog = page.getByRole("dialog", { name: "Export" });
  await dialog.getByRole("button", { name: "None" }).click();
  await dialog.getByRole("checkbox", { name: "/protobuf/speed" }).check();
  await dialog.getByLabel("From (UTC)").fill("2025-10-09T08:53:22Z");
  await dialog.getByLabel("To (UTC)").fill("2025-10-09T08:53:22.5Z");
  await dialog.getByLabel("Compression").selectOption("");
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    dialog.getByRole("button", { name: "Download" }).click(),
  ]);
  assert.match(download.suggestedFilename(), /^rover_.*\.mcap$/);
  const messages = readMessages(await readFile(await download.path()));
  assert.deepEqual(
    messages.map(({ topic, logTimeNs }) => [topic, logTimeNs]),
    Array.from({ length: 6 }, (_, index) => [
      "/protobuf/speed",
      1_760_000_002_000_000_000n + BigInt(index) * 100_000_000n,
    ]),
  );
  await page.keyboard.press("Escape");
}
