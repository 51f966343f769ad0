import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { agentSettings, customProperties, devices, deviceTokens, recordings } from "@downlink/protocol";
import { eventually } from "@downlink/recordings/testing";
import type { Page } from "playwright-core";
import { startEdgeAgent } from "../processes/edge-agent.ts";
import { findBarriers } from "./testing/axe.ts";
import { whyNoBrowser } from "./testing/browser.ts";
import { startConsole } from "./testing/start-console.ts";

const skip = whyNoBrowser();
const files = { "run-1.mcap": 2 };

test("a device is added with the keyboard alone, and turns green when its agent says hello with that token", {
  skip,
}, async (t) => {
  const scenario = await startConsole(t);
  const { page, complaints } = await scenario.open("/devices");
  await page.getByRole("link", { name: "rover" }).waitFor();
  await page.keyboard.press("a");
  const dialog = page.getByRole("dialog", { name: "Add a device" });
  await dialog.getByLabel("1. Name of the device").focus();
  await page.keyboard.type("rover 7");
  await dialog.getByText("A name has letters, digits").waitFor();
  for (const _ of " 7") await page.keyboard.press("Backspace");
  await page.keyboard.press("Enter");
  await dialog.getByText("already").waitFor();
  await page.keyboard.type("-7");
  await page.keyboard.press("Enter");
  await dialog.getByText("Waiting for the agent of rover-7…").waitFor();
  await page.keyboard.press("Escape");
  await dialog.getByText("It was not copied yet.").waitFor();
  await dialog.getByRole("button", { name: "Stay" }).click();
  const token = (await dialog.locator("[data-secret]").textContent())!;
  await dialog.getByRole("button", { name: "Copy the token" }).click();
  assert.equal(await page.evaluate<string>("navigator.clipboard.readText()"), token);
  assert.deepEqual(await findBarriers(page), []);

  const stateDir = await mkdtemp(join(tmpdir(), "downlink-added-"));
  t.after(() => rm(stateDir, { recursive: true, force: true }));
  const storageRoot = await mkdtemp(join(tmpdir(), "downlink-added-root-"));
  t.after(() => rm(storageRoot, { recursive: true, force: true }));
  await using _agent = startEdgeAgent({ ...scenario.agentOptions, token, stateDir, storageRoot });
  await dialog.getByText("● rover-7 is here").waitFor({ timeout: 120_000 });
  await dialog.getByRole("link", { name: "Look at rover-7" }).click();
  await page.getByRole("heading", { name: "rover-7" }).waitFor();
  await page.getByText(/Online, without problems/).waitFor();
  const kept = await page.evaluate<string>(
    "JSON.stringify([{ ...localStorage }, { ...sessionStorage }, location.href])",
  );
  assert.ok(!kept.includes(token), kept);
  assert.deepEqual(complaints, []);
});

test("a device is added with the mouse, and its commands are copied", { skip }, async (t) => {
  const scenario = await startConsole(t);
  const { page, complaints } = await scenario.open("/devices");
  await page.getByRole("button", { name: /^Add a device/ }).click();
  const dialog = page.getByRole("dialog", { name: "Add a device" });
  await dialog.getByLabel("1. Name of the device").fill("rover-8");
  await dialog.getByRole("button", { name: "Make its token" }).click();
  await dialog.getByText("Waiting for the agent of rover-8…").waitFor();
  await dialog.getByRole("button", { name: "Copy the commands" }).click();
  assert.match(await page.evaluate<string>("navigator.clipboard.readText()"), /enroll/);
  await page.keyboard.press("Escape");
  await dialog.getByText("It was not copied yet.").waitFor(); // the commands have no token in them
  await dialog.getByRole("button", { name: "Stay" }).click();
  await dialog.getByRole("button", { name: "Copy the token" }).click();
  assert.match(await page.evaluate<string>("navigator.clipboard.readText()"), /^dl_dt_/);
  await dialog.getByRole("button", { name: "Done" }).click();
  await dialog.waitFor({ state: "detached" });
  const found = await scenario.cloud().admin.call(devices.list, {});
  assert.ok(found.some(({ name }) => name === "rover-8"));
  assert.deepEqual(complaints, []);
});

test("settings are checked as they are typed, drawn as a week, reach the agent, and stay typed when they are refused", {
  skip,
}, async (t) => {
  const scenario = await startConsole(t, { files });
  const { admin } = scenario.cloud();
  const { page, complaints } = await scenario.open("/devices/rover?tab=settings");
  const form = page.getByRole("form", { name: "Agent settings" });
  const rate = form.getByLabel("Upload rate");
  await rate.fill("Mon-Fri 08:00-18:00 fast");
  await form.getByText(/Cannot be used: "fast" is no rate/).waitFor();
  assert.ok(await form.getByRole("button", { name: "Save" }).isDisabled());
  await rate.fill("Mon-Fri 08:00-18:00 1MB/s; * 10MB/s");
  assert.match((await form.getByRole("row", { name: /^Wed/ }).textContent())!, /08:00–18:00 1\.0 MB\/s/);
  await form.getByLabel("Import without a request").fill("[z-");
  await form.getByText("“[z-” cannot be used").waitFor();
  await form.getByLabel("Import without a request").fill("run-*.mcap");
  await form.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved. The agent applies it with its next call.").waitFor();
  assert.deepEqual(await admin.call(agentSettings.get, { nameOrId: "rover" }), {
    autoImport: ["run-*.mcap"],
    uploadRate: "Mon-Fri 08:00-18:00 1MB/s; * 10MB/s",
  });
  await scenario.until("complete"); // only the pattern asked for it

  const device = page.getByRole("form", { name: "Device settings" });
  await device.getByText("The device deletes nothing by itself.").waitFor();
  await device.getByLabel("Keep recordings on the device for").fill("30");
  await device.getByText(/older than 30 days, even those that were never imported and have no other copy/).waitFor();
  await admin.call(devices.create, { name: "rover-2" });
  await device.getByLabel("Name").fill("rover-2");
  await device.getByRole("button", { name: "Save" }).click();
  await device
    .getByRole("alert")
    .getByText(/has a device named "rover-2" already/)
    .waitFor();
  assert.equal(await device.getByLabel("Keep recordings on the device for").inputValue(), "30");
  await device.getByLabel("Name").fill("rover-3");
  await device.getByRole("button", { name: "Save" }).click();
  await page.getByRole("heading", { name: "rover-3" }).waitFor();
  assert.match(page.url(), /\/devices\/rover-3\?tab=settings$/);
  const saved = await admin.call(devices.get, { nameOrId: "rover-3" });
  assert.equal(saved.retainRecordingsSeconds, 30 * 86_400);
  assert.deepEqual(complaints, []);
});

test("settings that were changed and not saved are not lost without a question", { skip }, async (t) => {
  const scenario = await startConsole(t);
  const { page, complaints } = await scenario.open("/devices/rover");
  await page.getByRole("link", { name: "Settings", exact: true }).click();
  const rate = page.getByRole("textbox", { name: "Upload rate" });
  await rate.fill("off");
  const question = page.getByRole("dialog", { name: "Leave without saving?" });
  const byKeys = async () => {
    await page.locator("#page").focus();
    for (const key of ["g", "c"]) await page.keyboard.press(key);
  };
  for (const leave of [() => page.getByRole("link", { name: "Tokens" }).click(), () => page.goBack(), byKeys]) {
    await leave();
    await question.getByRole("button", { name: "Stay" }).click();
    await question.waitFor({ state: "detached" });
    assert.equal(await rate.inputValue(), "off");
  }
  await page.getByRole("link", { name: "Tokens" }).click();
  await question.getByRole("button", { name: "Leave without saving" }).click();
  await page.getByRole("button", { name: "Make a token" }).waitFor();
  await page.goBack();
  await untilLayers(page, 0);
  await rate.fill("2MB/s");
  await untilLayers(page, 1);
  await page.goBack();
  await untilLayers(page, 2); // the form and the question
  await question.getByRole("button", { name: "Leave without saving" }).click();
  await page.getByRole("region", { name: "Agent", exact: true }).waitFor();
  await page.goForward();
  assert.equal(await rate.inputValue(), ""); // what was typed before is gone
  await rate.fill("1MB/s");
  await page.getByRole("button", { name: "Save" }).first().click();
  await page.getByText("Saved. The agent applies it with its next call.").waitFor();
  await page.getByRole("link", { name: "Tokens" }).click();
  await page.getByRole("button", { name: "Make a token" }).waitFor();
  assert.deepEqual(complaints, []);
});

/** Waits until the page has made as many steps in the history as it has forms and questions that Back is to meet. */
async function untilLayers(page: Page, count: number): Promise<void> {
  await eventually(
    () => page.evaluate<number>("history.state?.layers"),
    (depth) => depth === count,
  );
}

test("a token is shown once, and an agent whose token is revoked is refused and says so", { skip }, async (t) => {
  const scenario = await startConsole(t, { files });
  const { admin } = scenario.cloud();
  const { page, complaints } = await scenario.open("/devices/rover?tab=tokens");
  await page.getByRole("button", { name: "Make a token" }).click();
  const made = page.getByRole("dialog", { name: "A new token" });
  const text = (await made.locator("[data-secret]").textContent())!;
  await page.keyboard.press("Escape");
  assert.ok(await made.isVisible(), "a secret that was not copied must not vanish by a key");
  await made.getByRole("button", { name: "Close without it" }).click();
  const tokens = page.getByRole("listitem").filter({ has: page.getByRole("button", { name: "Revoke…" }) });
  const hint = `…${text.slice(-4)}`;
  await tokens.filter({ hasText: hint }).getByText("never used").waitFor();
  await page.reload();
  await tokens.filter({ hasText: hint }).waitFor();
  assert.ok(!(await page.content()).includes(text));

  const old = tokens.filter({ hasNotText: hint });
  await old.getByRole("button", { name: "Revoke…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke the token" }).click();
  await old.waitFor({ state: "detached" });
  assert.equal((await admin.call(deviceTokens.list, { deviceId: scenario.deviceId })).length, 1);
  await eventually(
    async () => scenario.agent().output(),
    (output) => /TokenRefused/.test(output),
  );
  assert.deepEqual(complaints, []);
});

test("a device that has data is not deleted and says why; an empty one goes once its name is typed", {
  skip,
}, async (t) => {
  const scenario = await startConsole(t, { files });
  const { admin } = scenario.cloud();
  const { page, complaints } = await scenario.open("/devices/rover?tab=settings");
  const remove = async (name: string) => {
    await page.getByRole("button", { name: `Delete ${name}…` }).click();
    const dialog = page.getByRole("dialog", { name: `Delete ${name}?` });
    const button = dialog.getByRole("button", { name: "Delete the device" });
    await dialog.getByLabel(`Type ${name} to go on`).fill(name.slice(1));
    assert.ok(await button.isDisabled());
    await dialog.getByLabel(`Type ${name} to go on`).fill(name);
    await button.click();
    return dialog;
  };
  const dialog = await remove("rover");
  await dialog.getByText("It still has 1 recording,").waitFor();
  await dialog
    .getByRole("alert")
    .getByText(/still has 1 recordings/)
    .waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();

  await admin.call(devices.create, { name: "spare" });
  await page.getByRole("link", { name: "Devices" }).first().click();
  await page.getByLabel("Name contains").fill("PAR");
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "rover" }).waitFor({ state: "detached" });
  await page.getByRole("link", { name: "spare" }).waitFor(); // until then the rows are places to fill
  await page.locator('[role="row"][data-index="0"]').focus();
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "Settings" }).click();
  await remove("spare");
  await page.getByRole("heading", { name: "Devices" }).waitFor();
  const names = (await admin.call(devices.list, {})).map(({ name }) => name);
  assert.deepEqual(names, ["rover"]);
  assert.equal((await admin.call(recordings.list, {})).length, 1);
  assert.deepEqual(complaints, []);
});

test("the page of a device lists its newest recordings, and leads to each and to all of them", { skip }, async (t) => {
  const scenario = await startConsole(t, { files: { "run-1.mcap": 2, "run-2.mcap": 2 } });
  await scenario.cloud().admin.call(devices.create, { name: "rover-2" });
  const { page, complaints } = await scenario.open("/devices/rover");
  await page.getByRole("navigation", { name: "Device" }).getByRole("link", { name: "Recordings" }).click();
  const list = page.getByRole("region", { name: "Recordings" });
  await list.getByRole("link", { name: "run-1.mcap" }).waitFor();
  assert.deepEqual(await list.locator('[data-index] [role="gridcell"] a').allTextContents(), [
    "run-2.mcap",
    "run-1.mcap",
  ]);
  await list.getByRole("link", { name: "All recordings of rover" }).click();
  await page.getByRole("heading", { name: "Recordings", exact: true }).waitFor();
  assert.match(page.url(), /\/recordings\?device=rover$/);
  await page.getByRole("link", { name: "run-2.mcap" }).waitFor();
  await page.goBack();
  await list.getByRole("link", { name: "run-1.mcap" }).click();
  await page.getByRole("heading", { name: "run-1.mcap" }).waitFor();
  await page.goto(`${scenario.home}/devices/rover-2?tab=files`);
  await page.getByText("No recording of this device is known yet.").waitFor();
  assert.deepEqual(complaints, []);
});

test("a device that is not there is said to be none", {
  skip,
}, async (t) => {
  const scenario = await startConsole(t);
  const { page, complaints } = await scenario.open("/devices/nobody");
  await page.getByText("There is no device “nobody” in this project.").waitFor();
  assert.deepEqual(complaints, []);
});

test("axe finds nothing on the list and on any tab, in both themes, on a desk and on a phone", { skip }, async (t) => {
  const scenario = await startConsole(t, { files });
  const { admin } = scenario.cloud();
  await admin.call(agentSettings.put, { nameOrId: "rover", uploadRate: "Mon-Fri 08:00-18:00 off; * 10MB/s" });
  const site = { key: "site", label: "Site", resourceType: "device", valueType: "string" } as const;
  await admin.call(customProperties.create, site);
  await admin.call(devices.update, { nameOrId: "rover", properties: { site: "Munich" } });
  for (const theme of ["light", "dark"] as const)
    for (const width of [390, 1280]) {
      const { page, complaints, context } = await scenario.open("/devices", { theme, width });
      await page.getByRole("link", { name: "rover" }).waitFor();
      const look = async (what: string) => {
        assert.deepEqual(await findBarriers(page), [], `${what}, ${theme}, ${width} px`);
        const wider = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
        assert.ok(wider <= 0, `${what}, ${theme}: ${wider} px wider than the window`);
      };
      await look("list");
      await page.getByRole("link", { name: "rover" }).click();
      for (const [tab, text] of [
        ["Overview", "Last seen"],
        ["Recordings", "Every file on this device"],
        ["Settings", "The device deletes nothing"],
        ["Tokens", "An agent with one of these tokens"],
        ["Property history", "Munich"],
      ] as const) {
        await page.getByRole("navigation", { name: "Device" }).getByRole("link", { name: tab }).click();
        await page.getByText(text).first().waitFor();
        await look(tab);
      }
      assert.deepEqual(complaints, []);
      await context.close();
    }
});
