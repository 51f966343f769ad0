import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { makeMcap } from "@downlink/recordings/testing";
import { findBarriers } from "./testing/axe.ts";
import { whyNoBrowser } from "./testing/browser.ts";
import { startConsole } from "./testing/start-console.ts";

const RANGE = "from=2020-01-01&to=2020-01-02";

test("an empty page says whether there is nothing at all, nothing at that time, or nothing that fits, and leads out of it", {
  skip: whyNoBrowser(),
}, async (t) => {
  const scenario = await startConsole(t);
  const { page, complaints } = await scenario.open("/coverage");
  const open = (path: string) => page.goto(scenario.home + path);
  const shown = (text: string) => page.getByText(text).first().waitFor();
  await shown("No device has any recording yet.");
  for (const [path, text] of Object.entries(NOTHING_YET)) {
    await open(path);
    await shown(text);
  }

  await open("/recordings");
  for (const width of [390, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    await shown("There is no recording yet.");
    assert.deepEqual(await findBarriers(page), [], `${width} px`);
  }
  const command = await page.locator(".empty pre").textContent();
  await writeFile(join(scenario.storageRoot, "run.mcap"), await makeMcap({ startNs: 1_760_000_000_000_000_000n }));
  const env = { ...process.env, DOWNLINK_API_KEY: scenario.cloud().adminKey };
  await promisify(execFile)("bash", ["-ec", command!], { cwd: scenario.storageRoot, env });
  const found = page.getByRole("link", { name: "run.mcap" });
  await found.waitFor();

  await open(`/recordings?${RANGE}`);
  await shown("Nothing at that time.");
  await page.getByRole("button", { name: /^After: 2025-10-09/ }).click();
  await found.waitFor();
  await open(`/coverage?${RANGE}`);
  await shown("Nothing in this range.");
  await page.getByRole("button", { name: /^First after: 2025-10-09/ }).click();
  await page.getByText("Nothing in this range.").waitFor({ state: "detached" });

  await open("/recordings?path=nowhere&topic=/nothing");
  await shown("No recording matches all filters.");
  await page.getByRole("button", { name: "✕ path: nowhere" }).click();
  await page.getByRole("button", { name: "✕ topic: /nothing" }).click();
  await found.waitFor();
  await open("/coverage?q=nobody");
  await shown("No device matches “nobody”.");
  await page.getByRole("button", { name: "✕ show all devices" }).click();
  await page.locator(".row-share").first().waitFor();
  assert.deepEqual(complaints, []);
});

/** The texts that pages show before anything was recorded, marked or requested. */
const NOTHING_YET = {
  "/imports": "Nothing waits for a device.",
  "/imports?tab=failed": "No import failed.",
  "/imports?tab=done": "Nothing was imported yet.",
  "/events": "No event is marked yet.",
  "/datasets": "There is no dataset yet.",
  "/episodes": "There is no episode yet.",
};
