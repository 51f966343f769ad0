import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { agentSettings, importQueue, importRequests, recordings } from "@downlink/protocol";
import { eventually } from "@downlink/recordings/testing";
import { findBarriers } from "./testing/axe.ts";
import { whyNoBrowser } from "./testing/browser.ts";
import { cutRecording, uploadFile } from "./testing/failed-uploads.ts";
import { type ConsoleScenario, startConsole } from "./testing/start-console.ts";

const skip = whyNoBrowser();
const files = { "run-1.mcap": 3, "run-2.mcap": 2 };
/** An agent is offline once it has not been heard of for a minute. */
const UNTIL_OFFLINE_MS = 120_000;

async function requestAll({ cloud }: ConsoleScenario): Promise<void> {
  await cloud().admin.call(importRequests.create, { filter: {} });
}

test("an import is watched from the queue to its end", { skip }, async (t) => {
  const scenario = await startConsole(t, { files });
  const { admin } = scenario.cloud();
  await admin.call(agentSettings.put, { nameOrId: "rover", uploadRate: "20kB/s" });
  await requestAll(scenario);
  const { page, complaints } = await scenario.open("/imports");
  const group = page.getByRole("region", { name: "rover" });
  await group.getByRole("link", { name: "run-1.mcap" }).waitFor();
  await group.getByRole("progressbar").first().waitFor({ timeout: 60_000 });
  await admin.call(agentSettings.put, { nameOrId: "rover", uploadRate: "unlimited" });
  await page.getByText("Nothing waits for a device.").waitFor({ timeout: 120_000 });
  await page.getByRole("link", { name: "Done" }).click();
  for (const name of Object.keys(files))
    await page.getByRole("row").filter({ hasText: name }).waitFor({ timeout: 120_000 });
  assert.deepEqual(complaints, []);
});

test("of a device that is switched off the queue says so and what to do; what comes first is chosen meanwhile, by keys", {
  skip,
}, async (t) => {
  const scenario = await startConsole(t, { files });
  await scenario.agent().end("SIGKILL");
  await requestAll(scenario);
  const { page, complaints } = await scenario.open("/imports");
  const group = page.getByRole("region", { name: "rover" });
  await group.getByText(/Waits: The agent that has the file has not been heard of/).waitFor({
    timeout: UNTIL_OFFLINE_MS,
  });
  await group.getByText(/Power the device on/).waitFor();
  await group.getByRole("button", { name: /^agent status/ }).waitFor();
  await group.getByRole("button", { name: "All that wait for this" }).click();
  assert.match(page.url(), /reason=DeviceOffline/);

  const paths = () => page.locator(".import-rows .import-path").allTextContents();
  const [before, last] = await paths();
  await page.getByLabel(`Priority of ${last}`).focus();
  await page.keyboard.press("Home");
  await page.getByText(`${last}: priority changed.`).waitFor();
  await eventually(paths, ([first]) => first === last);
  const [first] = await scenario.cloud().admin.call(importQueue.list, {});
  assert.deepEqual([first!.path, first!.priority], [last, 100]);

  await page.getByRole("button", { name: `Cancel ${before}` }).focus();
  await page.keyboard.press("Enter");
  await page.getByText(`${before}: cancelled.`).waitFor();
  await group.getByRole("button", { name: "All of rover" }).click();
  await page.getByRole("menuitem", { name: "Cancel all…" }).click();
  const dialog = page.getByRole("dialog", { name: "Cancel the imports of rover?" });
  await dialog.getByText("Files stay on the device").waitFor();
  await dialog.getByRole("button", { name: "Cancel 1 import" }).click();
  await page.getByText("Nothing waits for a device.").waitFor();
  assert.deepEqual(await scenario.cloud().admin.call(importQueue.list, {}), []);
  assert.deepEqual(complaints, []);
});

test("a file that was cut off shows its reason and what a salvage would keep, is salvaged, and arrives", {
  skip,
}, async (t) => {
  const scenario = await startConsole(t, { files: { "run-1.mcap": 1 } });
  await writeFile(join(scenario.storageRoot, "power-cut.mcap"), await cutRecording());
  const { page, complaints } = await scenario.open("/imports?tab=unreadable");
  const group = page.getByRole("region", { name: "Incomplete: the file has no end" });
  await group.getByText(/A salvage would keep/).waitFor({ timeout: 60_000 });
  await group.getByRole("button", { name: "Salvage power-cut.mcap" }).click();
  await page.getByText("power-cut.mcap is being salvaged on the device.").waitFor();
  await group.getByRole("link", { name: "The salvaged recording" }).waitFor({ timeout: 120_000 });
  await page.getByRole("link", { name: "Done" }).click();
  await eventually(
    async () => {
      await page.reload();
      await page.getByRole("heading", { name: "Imports" }).waitFor();
      return page.getByRole("row").filter({ hasText: "power-cut" }).count();
    },
    (count) => count === 1,
  );
  const [salvaged] = await scenario.cloud().admin.call(recordings.list, { pathMatches: "power-cut" });
  assert.equal(salvaged!.importStatus, "complete");
  assert.deepEqual(complaints, []);
});

test("failures stand by their reason with what helps: a cut upload is salvaged, the stored bytes are fetched, and a retry says what came of it", {
  skip,
}, async (t) => {
  const scenario = await startConsole(t);
  const cut = await cutRecording();
  await uploadFile(scenario, "cut.mcap", cut);
  await uploadFile(scenario, "notes.mcap", new TextEncoder().encode("these are notes"));
  const { page, complaints } = await scenario.open("/imports?tab=failed");
  const incomplete = page.getByRole("region", { name: "Incomplete: the file has no end" });
  const foreign = page.getByRole("region", { name: "No recording" });
  await foreign.getByText("A retry reads the same bytes and fails again.").waitFor({ timeout: 60_000 });
  await incomplete.getByText("cut.mcap").waitFor();
  assert.equal(await foreign.getByRole("button", { name: "Salvage" }).count(), 0);

  const download = page.waitForEvent("download");
  await incomplete.getByRole("link", { name: "Stored file" }).click();
  const stream = await (await download).createReadStream();
  assert.deepEqual(Buffer.concat(await Array.fromAsync(stream)), Buffer.from(cut));

  await foreign.getByRole("button", { name: "Retry" }).click();
  await page.getByText("notes.mcap is tried again.").waitFor();
  await incomplete.getByRole("button", { name: "Salvage" }).click();
  await page.getByText("cut.mcap is being salvaged.").waitFor();
  await eventually(scenario.recordings, (found) => found.some(({ path }) => path === "cut.salvage.mcap"));
  await foreign.getByText("notes.mcap").waitFor({ timeout: 60_000 });
  assert.deepEqual(complaints, []);
});

test("axe finds nothing on any tab, in both themes, on a desk and on a phone, and what the address says wrongly is named", {
  skip,
}, async (t) => {
  const scenario = await startConsole(t, { files });
  await scenario.agent().end("SIGKILL");
  await requestAll(scenario);
  await uploadFile(scenario, "notes.mcap", new TextEncoder().encode("these are notes"));
  for (const theme of ["light", "dark"] as const)
    for (const width of [390, 1280]) {
      const { page, complaints, context } = await scenario.open("/imports?tab=soon", { theme, width });
      await page.getByText("“soon” is not a valid tab").waitFor();
      await page.getByRole("link", { name: "run-1.mcap" }).waitFor();
      assert.deepEqual(await findBarriers(page), [], `queue, ${theme}, ${width} px`);
      for (const [tab, text] of [
        ["Failed", "notes.mcap"],
        ["Cannot be imported", "Every file on the devices can be imported."],
        ["Processing", "Nothing is being processed."],
        ["Done", "Nothing was imported yet."],
      ] as const) {
        await page.getByRole("link", { name: tab }).click();
        await page.getByText(text).first().waitFor();
        assert.deepEqual(await findBarriers(page), [], `${tab}, ${theme}, ${width} px`);
      }
      const scrolled = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
      assert.ok(scrolled <= 0, `${scrolled} px wider than the window`);
      assert.deepEqual(complaints, []);
      await context.close();
    }
});
