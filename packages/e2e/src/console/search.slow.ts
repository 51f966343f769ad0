import assert from "node:assert/strict";
import { test } from "node:test";
import { api, datasets, devices, events, projects } from "@downlink/protocol";
import type { Page } from "playwright-core";
import { findBarriers } from "./testing/axe.ts";
import { openPage, signIn, whyNoBrowser } from "./testing/browser.ts";
import { startConsole } from "./testing/start-console.ts";

const skip = whyNoBrowser();
const files = { "run-1.mcap": 1, "run-2.mcap": 1 };
const START_NS = 1_760_000_000_000_000_000n;

/** Types into the search and waits until this option is the active one. */
async function typeUntilActive(page: Page, { text, option }: { text: string; option: RegExp }): Promise<void> {
  await page.locator('input[role="combobox"]:focus').waitFor();
  await page.keyboard.type(text);
  await page.locator('[role="option"][aria-selected="true"]').filter({ hasText: option }).waitFor();
}

test("a device, a recording, an event, a dataset and a page are found from anywhere by keys alone", {
  skip,
}, async (t) => {
  const scenario = await startConsole(t, { files });
  const { admin } = scenario.cloud();
  const [{ id: deviceId, projectId } = assert.fail()] = await admin.call(devices.list, {});
  const metadata = { reason: "estop" };
  await admin.call(events.create, { deviceId, start: START_NS, end: START_NS + 1n, metadata });
  await admin.call(datasets.create, { projectId, name: "stumbles" });
  const { page, complaints } = await scenario.open("/coverage");
  const heading = (name: string) => page.getByRole("heading", { level: 1, name }).waitFor();
  await heading("Coverage");
  for (const [keys, text, option, title] of [
    ["/", "ROV", /^rover$/, "rover"],
    ["Control+k", "run-2", /^run-2\.mcap/, "run-2.mcap"],
    ["/", "estop", /^Eventrover · 2025-10-09 08:53:20 UTC$/, "Event of 9 Oct 2025 08:53 UTC"],
    ["/", "umbl", /^stumbles$/, "stumbles"],
    ["/", "impo", /^Imports$/, "Imports"],
    ["Meta+k", "webh", /^WebhooksSettings$/, "Webhooks"],
  ] as const) {
    await page.keyboard.press(keys);
    await typeUntilActive(page, { text, option });
    await page.keyboard.press("Enter");
    await heading(title);
  }
  assert.deepEqual(complaints, []);
});

test("arrows choose, Escape gives the focus back, actions are done, and a press on an option opens it", {
  skip,
}, async (t) => {
  const scenario = await startConsole(t, { files });
  const { page, complaints } = await scenario.open("/devices");
  await page.getByRole("link", { name: "rover" }).waitFor();
  const opener = page.getByRole("button", { name: "Search…" });
  await opener.focus();
  await page.keyboard.press("Enter");
  await typeUntilActive(page, { text: "run", option: /^run-2/ });
  await page.keyboard.press("ArrowDown");
  await page.locator('[aria-selected="true"]', { hasText: "run-1" }).waitFor();
  await page.keyboard.press("ArrowUp");
  await page.locator('[aria-selected="true"]', { hasText: "run-2" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("combobox", { name: "Search" }).waitFor({ state: "detached" });
  await page.locator(".search-button:focus").waitFor();

  await page.keyboard.press("/");
  await typeUntilActive(page, { text: "dark th", option: /^Dark theme$/ });
  await page.keyboard.press("Enter");
  await page.locator('html[data-theme="dark"]').waitFor();
  await page.keyboard.press("/");
  await page.getByRole("combobox", { name: "Search" }).fill("add a dev");
  await page.getByRole("option", { name: "Add a device" }).click();
  await page.getByRole("dialog", { name: "Add a device" }).waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("/");
  await page.getByRole("combobox", { name: "Search" }).fill("no such thing");
  await page.getByRole("status").filter({ hasText: "Nothing was found." }).waitFor();
  assert.deepEqual(complaints, []);
});

test("a failed search says so and how it goes on", { skip }, async (t) => {
  const scenario = await startConsole(t);
  const { page } = await scenario.open("/devices");
  await page.getByRole("link", { name: "rover" }).waitFor();
  await page.route(/\/v1\/recordings\?/, (route) =>
    route.fulfill({ status: 400, json: { code: "InvalidRequest", error: "not this time" } }),
  );
  await page.keyboard.press("/");
  await typeUntilActive(page, { text: "rover", option: /^rover$/ });
  await page.getByRole("alert").getByText("not this time").waitFor();
});

test("a key that sees one project finds nothing of another, and only what it may do", { skip }, async (t) => {
  const scenario = await startConsole(t, { files });
  const { admin } = scenario.cloud();
  const other = await admin.call(projects.create, { name: "other" });
  await admin.call(devices.create, { name: "rover-other", projectId: other.id });
  const { token } = await admin.call(api.apiKeys.create, {
    name: "viewer",
    capabilities: ["devices.list", "recordings.list"],
    projectIds: [other.id],
  });
  const { page, complaints } = await openPage(scenario.browser);
  const { url } = scenario.agentOptions;
  await signIn(page, url, token!);
  await page.goto(`${url}/p/${other.id}/devices`);
  await page.getByRole("link", { name: "rover-other" }).waitFor();
  await page.keyboard.press("/");
  await typeUntilActive(page, { text: "r", option: /^rover-other$/ });
  await page.getByText("Esc closes").waitFor();
  const shown = await page.getByRole("option").allTextContents();
  assert.deepEqual(
    shown.filter((text) => /rover|run-|Add|Webhooks|Sites|Events/.test(text)),
    ["rover-other"],
  );
  assert.ok(shown.includes("Recordings"));
  assert.deepEqual(complaints, []);
});

test("axe finds nothing in the search, in both themes, on a desk and on a phone", { skip }, async (t) => {
  const scenario = await startConsole(t, { files });
  for (const theme of ["light", "dark"] as const)
    for (const width of [390, 1280]) {
      const { page, complaints, context } = await scenario.open("/devices", { theme, width });
      await page.getByRole("link", { name: "rover" }).waitFor();
      await page.getByRole("button", { name: "Search…" }).click();
      await typeUntilActive(page, { text: "r", option: /^rover$/ });
      assert.deepEqual(await findBarriers(page), [], `${theme}, ${width} px`);
      const wider = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
      assert.ok(wider <= 0, `${wider} px wider than the window`);
      assert.deepEqual(complaints, []);
      await context.close();
    }
});
