import assert from "node:assert/strict";
import { test } from "node:test";
import { devices, events } from "@downlink/protocol";
import { whyNoBrowser } from "./testing/browser.ts";
import { startConsole } from "./testing/start-console.ts";

const skip = whyNoBrowser();
const START_NS = 1_760_000_000_000_000_000n;
const [IN_UTC, IN_BERLIN] = ["2025-10-09 08:53:20", "2025-10-09 10:53:20"];

test("the zone of times is chosen once, holds on each page, is named on each, and is kept", { skip }, async (t) => {
  const scenario = await startConsole(t, { files: { "run-1.mcap": 2 } });
  const { admin } = scenario.cloud();
  const [{ id: deviceId } = assert.fail()] = await admin.call(devices.list, {});
  const { id: eventId } = await admin.call(events.create, { deviceId, start: START_NS, end: START_NS + 1n });
  const [{ id } = assert.fail()] = await scenario.recordings();
  const { page, complaints } = await scenario.open("/recordings", { timeZone: "Europe/Berlin" });
  await page.getByText(IN_UTC).waitFor();
  await page.getByRole("columnheader", { name: "Start (UTC)" }).waitFor();
  await page.getByRole("button", { name: "Appearance" }).click();
  await page.getByRole("menuitem", { name: "Times in Europe/Berlin" }).click();
  await page.getByText(IN_BERLIN).waitFor();
  await page.getByRole("columnheader", { name: "Start (Europe/Berlin)" }).waitFor();
  for (const path of ["/devices/rover?tab=files", `/recordings/${id}?tab=history`, "/events", `/events/${eventId}`]) {
    await page.goto(scenario.home + path);
    await page.locator("main").getByText(IN_BERLIN).first().waitFor();
    await page.locator("main").getByText("Europe/Berlin").filter({ visible: true }).first().waitFor();
    assert.equal(await page.locator("main").getByText(IN_UTC).count(), 0, path);
  }
  await page.goto(`${scenario.agentOptions.url}/settings/appearance`);
  const choice = page.getByRole("radio", { name: "UTC", exact: true });
  assert.equal(await choice.isChecked(), false);
  await choice.check();
  await page.goto(`${scenario.home}/recordings`);
  await page.getByText(IN_UTC).waitFor();
  assert.deepEqual(complaints, []);
});
