import assert from "node:assert/strict";
import { test } from "node:test";
import { api } from "@downlink/protocol";
import { eventually } from "@downlink/recordings/testing";
import pg from "pg";
import type { Locator, Page } from "playwright-core";
import { findBarriers } from "./testing/axe.ts";
import { openPage, signIn, whyNoBrowser } from "./testing/browser.ts";
import { type ConsoleScenario, startConsole } from "./testing/start-console.ts";

const skip = whyNoBrowser();
/** Each begins a minute after the one before, the first at 08:53:20. */
const files = { "run-1.mcap": 30, "run-2.mcap": 30 };
const RANGE = "from=2025-10-09T08:53:00Z&to=2025-10-09T08:58:00Z";
const TOPICS = ["/camera/front", "/gps", "/imu", "/log"];

/** Selects a part of the range in the only row, by dragging, and returns the panel beside it. */
async function selectSpan(page: Page, fromSeconds: number, toSeconds: number): Promise<Locator> {
  await page.locator(".row-share").first().waitFor();
  const box = (await page.locator(".lanes-bars").boundingBox())!;
  const xAt = (seconds: number) => box.x + (box.width * seconds) / 300;
  await page.mouse.move(xAt(fromSeconds), box.y + 14);
  await page.mouse.down();
  await page.mouse.move(xAt(toSeconds), box.y + 14, { steps: 5 });
  await page.mouse.up();
  await page.locator(".lane-selection").waitFor();
  return page.getByRole("region", { name: "Selection", exact: true });
}

const importButton = (page: Page) => page.getByRole("button", { name: "Import this part" });

async function firstRun({ cloud }: ConsoleScenario) {
  const [first] = await cloud().admin.call(api.recordings.list, { pathMatches: "run-1" });
  return first!;
}

async function openPartDialog(page: Page): Promise<Locator> {
  await page.getByRole("button", { name: "Import", exact: true }).click();
  await page.getByRole("menuitem", { name: "Import a part…" }).click();
  const dialog = page.getByRole("dialog", { name: "Import a part" });
  await dialog.getByText(/all of the recording, which is imported whole/).waitFor();
  return dialog;
}

/** Chooses two topics and ten seconds, and asks for them. */
async function askForTenSeconds(page: Page, dialog: Locator): Promise<void> {
  await dialog.getByRole("button", { name: "None" }).click();
  await dialog.getByText("Choose a topic.").waitFor();
  assert.ok(await importButton(page).isDisabled());
  await dialog.getByRole("checkbox", { name: "/imu" }).check();
  await dialog.getByRole("checkbox", { name: "/gps" }).check();
  await dialog.getByLabel("From (UTC)").fill("2025-10-09 08:53:30");
  await dialog.getByLabel("To (UTC)").fill("2025-10-09 08:53:20");
  await dialog.getByText("The end lies before the start.").waitFor();
  assert.ok(await importButton(page).isDisabled());
  await dialog.getByLabel("To (UTC)").fill("2025-10-09 08:53:40");
  await dialog.getByText(/^10 s of 2 topics, about [\d.]+ kB/).waitFor();
  assert.deepEqual(await findBarriers(page), []);
  await importButton(page).click();
  await page.getByText("The part was requested.").waitFor();
}

/** Goes from the whole recording to its part, and back. */
async function goThere(page: Page): Promise<void> {
  const parts = page.getByRole("region", { name: "Parts" });
  await parts.getByText("imported").waitFor({ timeout: 120_000 });
  await parts.getByText("/gps, /imu").waitFor();
  await page.getByText("Only rover has all of it. One part of it is here.").waitFor();
  assert.equal(await parts.getByRole("button").count(), 0, "an imported part cannot be cancelled");
  const whole = page.url();
  await parts.getByRole("link", { name: /^Open the part/ }).click();
  await page.getByText(/^A part of run-1\.mcap: 2 topics, 10 s$/).waitFor();
  await page.getByText(/^Its data is here/).waitFor();
  await page.getByRole("link", { name: "Overview", exact: true }).click();
  await page.getByRole("row").filter({ hasText: "/imu" }).waitFor();
  assert.equal(await page.getByText("downlink.cut").count(), 0, "the page says in words what the record says");
  await page.getByRole("link", { name: "run-1.mcap", exact: true }).click();
  await parts.waitFor();
  assert.equal(page.url(), whole);
}

test("a part of what is selected is estimated, imported, and found as a part of its recording", { skip }, async (t) => {
  const scenario = await startConsole(t, { files });
  const { page, complaints } = await scenario.open(`/coverage?${RANGE}`);
  const panel = await selectSpan(page, 15, 100);
  await panel.getByRole("button", { name: "Import only this part…" }).click();
  const dialog = page.getByRole("dialog", { name: "Import a part" });
  await dialog.getByText(/^\d+ s of 4 topics in 2 recordings, about [\d.]+ (kB|MB)/).waitFor();
  await dialog.getByText("One recording is imported whole, because all of it is wanted.").waitFor();
  for (const topic of TOPICS) assert.ok(await dialog.getByRole("checkbox", { name: topic }).isChecked(), topic);
  await askForTenSeconds(page, dialog);
  await page.getByRole("link", { name: "See its parts" }).click();
  await goThere(page);

  await openPartDialog(page);
  await page.getByRole("checkbox", { name: "/camera/front" }).uncheck();
  await page.getByRole("checkbox", { name: "/log" }).uncheck();
  await page.getByLabel("From (UTC)").fill("2025-10-09 08:53:31");
  await page.getByLabel("To (UTC)").fill("2025-10-09 08:53:32");
  await page.getByText("Nothing to send: all of it is here, or on its way.").waitFor();
  assert.ok(await importButton(page).isDisabled());
  await page.goBack();
  await page.getByRole("dialog").waitFor({ state: "detached" });

  await page.goto(`${scenario.home}/recordings`);
  await page.getByRole("row").getByTitle("A part of another recording: 2 topics, 10 s").waitFor();
  assert.deepEqual(await findBarriers(page), []);
  assert.equal(await page.getByRole("row").filter({ hasText: "on the device" }).count(), 2, "the whole is not here");
  assert.deepEqual(complaints, []);
});

test("with the keys alone a part is asked for of a device that is off, and cancelled after a question", {
  skip,
}, async (t) => {
  const scenario = await startConsole(t, { files });
  const { id } = await firstRun(scenario);
  await scenario.agent().end("SIGKILL");
  const { page, complaints } = await scenario.open(`/recordings/${id}`);
  await page.getByRole("button", { name: "Import", exact: true }).focus();
  await page.keyboard.press("Enter");
  await page.locator("[role=menuitem]:focus").waitFor();
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Import a part" });
  await dialog.getByRole("checkbox", { name: "/camera/front" }).focus();
  await page.keyboard.press("Space");
  await dialog.getByText(/^30 s of 3 topics, about/).waitFor();
  await importButton(page).focus();
  await page.keyboard.press("Enter");
  await page.getByText("The part was requested.").waitFor();

  const parts = page.getByRole("region", { name: "Parts" });
  await parts.getByText("requested").waitFor();
  await page.getByText("Only rover has it.").waitFor();
  await parts.getByRole("button", { name: /^Cancel the part from/ }).focus();
  await page.keyboard.press("Enter");
  const question = page.getByRole("dialog", { name: "Cancel this part?" });
  await question.getByText(/The file stays on the device/).waitFor();
  assert.deepEqual(await findBarriers(page), []);
  await question.getByRole("button", { name: "Cancel the part" }).focus();
  await page.keyboard.press("Enter");
  await page.getByText("The part is no longer requested.").waitFor();
  await parts.waitFor({ state: "detached" });
  assert.deepEqual((await scenario.cloud().admin.call(api.recordings.get, { keyOrId: id })).cuts, undefined);
  assert.deepEqual(complaints, []);
});

/** Lets the agent of the robot be one of a version that knew no parts. It is off, so that it does not say otherwise. */
async function makeAgentOld({ agent, databaseUrl }: ConsoleScenario): Promise<void> {
  await agent().end("SIGKILL");
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(`UPDATE "Agent" SET facts = facts - 'takesCuts', "agentVersion" = '0.0.9'`);
  } finally {
    await client.end();
  }
}

test("where the agent is too old the part waits and says so, at once and in the list of parts", { skip }, async (t) => {
  const scenario = await startConsole(t, { files });
  const { id } = await firstRun(scenario);
  await makeAgentOld(scenario);
  for (const [at, theme] of (["light", "dark"] as const).entries())
    for (const width of [390, 1280]) {
      const { page, complaints, context } = await scenario.open(`/recordings/${id}`, { theme, width });
      const dialog = await openPartDialog(page);
      await dialog.getByRole("checkbox", { name: TOPICS[at * 2 + (width === 390 ? 0 : 1)]! }).uncheck();
      await dialog.getByText(/^30 s of 3 topics, about/).waitFor();
      assert.deepEqual(await findBarriers(page), [], `dialog, ${theme}, ${width} px`);
      await dialog.getByLabel("To (UTC)").fill(`2025-10-09 08:53:3${at * 2 + (width === 390 ? 0 : 1)}`);
      await dialog.getByText(/^1\d s of 3 topics, about/).waitFor();
      await importButton(page).click();
      const sentence = "version 0.0.9, which cannot send a part of a file. Update it.";
      const answer = page.getByRole("dialog", { name: "The part was requested, and waits" });
      await answer.getByText(sentence).first().waitFor();
      await answer.getByRole("button", { name: "Close", exact: true }).last().click();
      await page.getByRole("region", { name: "Parts" }).getByText(sentence).first().waitFor();
      assert.deepEqual(await findBarriers(page), [], `page, ${theme}, ${width} px`);
      const scrolled = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
      assert.ok(scrolled <= 0, `${scrolled} px wider than the window`);
      assert.deepEqual(complaints, []);
      await context.close();
    }
});

test("a key that may only read sees the parts, and no button that asks for one or cancels it", { skip }, async (t) => {
  const scenario = await startConsole(t, { files });
  const { admin } = scenario.cloud();
  const { id, start } = await firstRun(scenario);
  await scenario.agent().end("SIGKILL");
  await admin.call(api.recordings.requestImport, { keyOrId: id, topics: ["/imu"], start, end: start + 5_000_000_000n });
  const { token } = await admin.call(api.apiKeys.create, {
    name: "reader",
    capabilities: ["devices.list", "recordings.list", "data.coverage.list", "data.stream"],
  });
  const { page, complaints } = await openPage(scenario.browser);
  await signIn(page, scenario.agentOptions.url, token!);
  await page.goto(`${scenario.home}/recordings/${id}`);
  const parts = page.getByRole("region", { name: "Parts" });
  await parts.getByText("requested").waitFor();
  assert.equal(await page.getByRole("button", { name: /Import|Cancel/ }).count(), 0);
  await page.goto(`${scenario.home}/coverage?${RANGE}`);
  const panel = await selectSpan(page, 15, 100);
  await panel.getByText(/2 on the device only/).waitFor();
  await eventually(
    () => panel.getByRole("link", { name: "Open" }).count(),
    (count) => count === 1,
  );
  assert.equal(await panel.getByRole("button", { name: /Import/ }).count(), 0);
  assert.deepEqual(complaints, []);
});

test("a failure is named and tried again, and too many recordings at once are refused with what to do", {
  skip,
}, async (t) => {
  const many = Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`run-${index}.mcap`, 1]));
  const { open } = await startConsole(t, { files: many });
  const { page, complaints } = await open(
    `/coverage?${RANGE}&sel=rover,rover,2025-10-09T08:53:00Z,2025-10-09T08:54:00Z`,
  );
  let isRefused = true;
  await page.route("**/import/estimate**", (route) =>
    isRefused
      ? route.fulfill({
          status: 409,
          contentType: "application/json",
          body: '{"error":"the device has no more room","code":"Conflict"}',
        })
      : route.fallback(),
  );
  const openButton = page.getByRole("button", { name: "Import only this part…" });
  await openButton.click();
  const dialog = page.getByRole("dialog", { name: "Import a part" });
  await dialog.getByText("The device has no more room.").waitFor();
  assert.ok(await importButton(page).isDisabled());
  isRefused = false;
  await dialog.getByRole("button", { name: "Try again" }).click();
  await dialog.getByText(/about [\d.]+ kB/).waitFor();
  await page.goBack();
  await dialog.waitFor({ state: "detached" });

  await page.goto(
    page
      .url()
      .replace(
        /\?.*/,
        "?from=2025-10-09T08:50:00Z&to=2025-10-09T09:30:00Z&sel=rover,rover,2025-10-09T08:50:00Z,2025-10-09T09:30:00Z",
      ),
  );
  await page.getByText(/^21 on the device only/).waitFor();
  await openButton.click();
  await dialog.getByText(/More than 20 recordings of the selection are on devices only/).waitFor();
  assert.equal(await importButton(page).count(), 0);
  assert.deepEqual(await findBarriers(page), []);
  assert.deepEqual(complaints, []);
});
