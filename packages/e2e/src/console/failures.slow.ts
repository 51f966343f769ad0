import assert from "node:assert/strict";
import { copyFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { edgeFiles, recordings } from "@downlink/protocol";
import { eventually } from "@downlink/recordings/testing";
import type { Page } from "playwright-core";
import { whyNoBrowser } from "./testing/browser.ts";
import { cutRecording, uploadFile } from "./testing/failed-uploads.ts";
import { type ConsoleScenario, startConsole } from "./testing/start-console.ts";

const skip = whyNoBrowser();
const files = { "once.mcap": 1, "healed.mcap": 2, "twice.mcap": 3 };

/** Imports a file and ends when that is over. */
async function importPath({ cloud, recordings: list }: ConsoleScenario, path: string): Promise<void> {
  const recording = await eventually(list, (all) => all.some((one) => one.path === path));
  const { id } = recording.find((one) => one.path === path)!;
  await cloud().admin.call(recordings.requestImport, { keyOrId: id });
  await eventually(list, (all) =>
    all.some((one) => one.id === id && (one.importStatus === "complete" || one.importStatus === "failed")),
  );
}

/** Makes recordings whose import fails, because the same content is imported already. */
async function failCopies(scenario: ConsoleScenario): Promise<void> {
  for (const name of Object.keys(files)) {
    await importPath(scenario, name);
    await copyFile(join(scenario.storageRoot, name), join(scenario.storageRoot, `copy-of-${name}`));
    await importPath(scenario, `copy-of-${name}`);
  }
}

/** Reads the number of failed imports on each page that says one. */
async function readCounts(page: Page, home: string): Promise<Readonly<Record<string, string | null>>> {
  await page.goto(`${home}/coverage?from=2025-10-09&to=2025-10-10`);
  const chip = await page.getByRole("list", { name: "Needs attention" }).getByText("failed").textContent();
  await page.goto(`${home}/recordings?status=failed`);
  const list = await page.locator("header p.muted[role=status]").textContent();
  await page.goto(`${home}/imports?tab=failed`);
  await page.getByRole("heading", { name: /whose import failed/ }).waitFor();
  const tab = await page.getByRole("link", { name: /^Failed/ }).textContent();
  const headings = await page.getByRole("heading", { level: 2 }).allTextContents();
  return { chip, list: list!.split(" · ")[0]!, tab, headings: headings.join(", ") };
}

test("every page counts as failed the recordings whose import failed: once each, and not those that a retry imported", {
  skip,
}, async (t) => {
  const scenario = await startConsole(t, { files });
  const { admin } = scenario.cloud();
  await failCopies(scenario);
  const all = await scenario.recordings();
  await admin.call(recordings.delete, { keyOrId: all.find(({ path }) => path === "healed.mcap")!.id });
  await importPath(scenario, "copy-of-healed.mcap");
  await importPath(scenario, "copy-of-twice.mcap");
  await writeFile(join(scenario.storageRoot, "power-cut.mcap"), await cutRecording());
  await uploadFile(scenario, "notes.mcap", new TextEncoder().encode("these are notes"));
  await eventually(
    () => admin.call(edgeFiles.list, {}),
    ([file]) => file?.state === "incomplete",
  );

  const { page, complaints } = await scenario.open("/imports?tab=failed");
  await page.getByRole("heading", { name: "1 upload that became no recording" }).waitFor({ timeout: 60_000 });
  assert.deepEqual(await readCounts(page, scenario.home), {
    chip: "2 imports failed",
    list: "2 recordings",
    tab: "Failed 2 · 1 upload",
    headings: "2 recordings whose import failed, 1 upload that became no recording",
  });
  const group = page.getByRole("region", { name: "The same content is imported already" });
  assert.deepEqual((await group.locator(".import-path").allTextContents()).sort(), [
    "copy-of-once.mcap",
    "copy-of-twice.mcap",
  ]);
  assert.match((await page.getByRole("link", { name: /^Cannot be imported/ }).textContent())!, / 1$/);
  assert.deepEqual(complaints, []);
});
