// The most common jobs without a mouse. The tests only press keys: Tab has to reach every element that they use, and the element has to
// show that it has the focus. Coverage, the list of recordings and a new device have such tests in the files of those pages.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { api } from "@downlink/protocol";
import { eventually, readMessages } from "@downlink/recordings/testing";
import type { Page } from "playwright-core";
import { whyNoBrowser } from "./testing/browser.ts";
import { cutRecording, uploadFile } from "./testing/failed-uploads.ts";
import { makeSensorRecording } from "./testing/sensor-recording.ts";
import { startConsole } from "./testing/start-console.ts";
import { pressAt, tabTo, typeInto } from "./testing/tab-to.ts";

const skip = whyNoBrowser();

test("a recording is found, judged by its lines, and an exact part of it is fetched", { skip }, async (t) => {
  const scenario = await startConsole(t);
  await uploadFile(scenario, "sensors.mcap", await makeSensorRecording());
  await scenario.until("complete");
  const { page, complaints } = await scenario.open("/coverage");
  await page.getByRole("heading", { name: "Coverage" }).waitFor();
  for (const key of ["g", "r"]) await page.keyboard.press(key);
  await pressAt(page.locator('[role="row"][data-index="0"]'));
  await page.getByRole("heading", { name: "sensors.mcap" }).waitFor();

  await pressAt(page.getByRole("link", { name: "Overview" }));
  await pressAt(page.getByRole("row").filter({ hasText: "/ros2/motion" }).getByRole("link"));
  await page.getByText("1 gap, the longest of 7.00 s").waitFor();
  await pressAt(page.getByRole("button", { name: "Fields and message" }));
  await tabTo(page.getByRole("checkbox", { name: "y", exact: true }));
  await page.keyboard.press("Space");
  await page.getByText("(1 of at most 8 drawn)").waitFor();

  const opener = page.getByRole("button", { name: "Export…" });
  await page.locator("#page").focus();
  await pressAt(opener);
  const dialog = page.getByRole("dialog", { name: "Export" });
  await pressAt(dialog.getByRole("button", { name: "None" }));
  await tabTo(dialog.getByRole("checkbox", { name: "/protobuf/speed" }));
  await page.keyboard.press("Space");
  await typeInto(dialog.getByLabel("From (UTC)"), "2025-10-09T08:53:22Z");
  await typeInto(dialog.getByLabel("To (UTC)"), "2025-10-09T08:53:22.5Z");
  await tabTo(dialog.getByLabel("Compression"));
  await page.keyboard.type("none");
  await pressAt(dialog.getByText("curl", { exact: true }));
  await dialog.getByRole("button", { name: "Copy for curl" }).waitFor();
  const download = page.waitForEvent("download");
  await pressAt(dialog.getByRole("button", { name: "Download" }));
  const messages = readMessages(await readFile(await (await download).path()));
  assert.deepEqual([messages.length, ...new Set(messages.map(({ topic }) => topic))], [6, "/protobuf/speed"]);
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await tabTo(opener);
  assert.deepEqual(complaints, []);
});

test("what failed is tried again or salvaged", { skip }, async (t) => {
  const scenario = await startConsole(t);
  await uploadFile(scenario, "cut.mcap", await cutRecording());
  await uploadFile(scenario, "notes.mcap", new TextEncoder().encode("these are notes"));
  const { page, complaints } = await scenario.open("/recordings");
  await page.getByRole("heading", { name: "Recordings" }).waitFor();
  for (const key of ["g", "i"]) await page.keyboard.press(key);
  await pressAt(page.getByRole("link", { name: "Failed" }));
  const incomplete = page.getByRole("region", { name: "Incomplete: the file has no end" });
  const foreign = page.getByRole("region", { name: "No recording" });
  await foreign.waitFor({ timeout: 60_000 });
  await incomplete.waitFor({ timeout: 60_000 });
  await pressAt(foreign.getByRole("button", { name: "Retry" }));
  await page.getByText("notes.mcap is tried again.").waitFor();
  await pressAt(incomplete.getByRole("button", { name: "Salvage" }));
  await page.getByText("cut.mcap is being salvaged.").waitFor();
  await eventually(scenario.recordings, (found) => found.some(({ path }) => path === "cut.salvage.mcap"));
  assert.deepEqual(complaints, []);
});

test("an import is asked for, its reason to wait is read, and so is the device that it waits for", {
  skip,
}, async (t) => {
  const scenario = await startConsole(t, { files: { "run-1.mcap": 3 } });
  await scenario.agent().end("SIGKILL");
  const { page, complaints } = await scenario.open("/recordings");
  await tabTo(page.locator('[role="row"][data-index="0"]'));
  await pressAtOnce(page, ["x", "i"]);
  await page.getByText("1 requested").waitFor();
  const { admin } = scenario.cloud();
  await eventually(
    () => admin.call(api.importQueue.list, {}),
    ([waiting]) => waiting?.waitsFor?.code === "DeviceOffline",
  );
  for (const key of ["g", "i"]) await page.keyboard.press(key);
  const group = page.getByRole("region", { name: "rover" });
  await group.getByText(/Waits: The agent that has the file has not been heard of/).waitFor();
  await pressAt(group.getByRole("link", { name: "Look at rover" }));
  await page.getByRole("heading", { name: "rover" }).waitFor();
  await page.getByText("Silent: its agent last made contact").waitFor();
  for (const key of ["g", "d"]) await page.keyboard.press(key);
  await pressAt(page.locator('[role="row"][data-index="0"]'));
  await page.getByRole("heading", { name: "rover" }).waitFor();
  assert.deepEqual(complaints, []);
});

/** Presses keys as a hand does that is quicker than the page: it answers each of them, and nothing can be drawn before the last one. */
async function pressAtOnce(page: Page, keys: readonly string[]): Promise<void> {
  await page.evaluate(`(async () => {
    for (const key of ${JSON.stringify(keys)}) {
      document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
      await undefined; // the page renders as soon as a key was handled
    }
  })()`);
}
