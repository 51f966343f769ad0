import assert from "node:assert/strict";
import { test } from "node:test";
import { api } from "@downlink/protocol";
import { eventually } from "@downlink/recordings/testing";
import type { Page } from "playwright-core";
import { whyNoBrowser } from "./testing/browser.ts";
import { keptSecrets } from "./testing/kept-secrets.ts";
import { startReceiver } from "./testing/receiver.ts";
import { PASSWORD, startPeople } from "./testing/start-people.ts";

const skip = whyNoBrowser();

/** Chooses an action of a row. */
async function act(page: Page, row: string, action: string) {
  await page.getByRole("button", { name: `Actions of ${row}` }).click();
  await page.getByRole("menuitem", { name: action }).click();
}

/** Reads the secret that a dialog shows once, copies it, and leaves. */
async function takeSecret(page: Page): Promise<string> {
  const dialog = page.getByRole("dialog");
  const secret = (await dialog.locator(".secret code").textContent())!;
  await dialog.getByRole("button", { name: "Copy" }).click();
  await dialog.getByText("✓ copied").waitFor();
  assert.equal(await page.evaluate("navigator.clipboard.readText()"), secret);
  await dialog.getByRole("button", { name: "Done" }).click();
  await dialog.waitFor({ state: "detached" });
  assert.deepEqual(await keptSecrets(page), [], "nothing of it stays");
  return secret;
}

test("a key is made, shown once and not lost by accident, used, disabled, enabled and deleted", { skip }, async (t) => {
  const { open, url, admin } = await startPeople(t);
  const { page, complaints } = await open("/settings/keys");
  await page.getByRole("button", { name: "New key" }).click();
  await page.getByLabel("Name").fill("nightly export");
  await page.getByRole("button", { name: "Read only" }).click();
  await page.getByRole("checkbox", { name: "data.upload" }).check();
  await page.getByRole("button", { name: "Make the key" }).click();
  const dialog = page.getByRole("dialog", { name: "The new key" });
  await dialog.waitFor();
  for (const leave of [
    () => page.keyboard.press("Escape"),
    () => page.goBack(),
    () => dialog.getByRole("button", { name: "Done" }).click(),
  ]) {
    await leave();
    await dialog.getByText("It was not copied yet.").waitFor();
    await dialog.getByRole("button", { name: "Stay" }).click();
  }
  const key = await takeSecret(page);
  const ask = async (path = "/v1/projects") =>
    (await fetch(url + path, { headers: { authorization: `Bearer ${key}` } })).status;
  assert.equal(await ask(), 200);
  assert.equal(await ask("/v1/api-keys"), 403, "it may do no more than was chosen");

  await act(page, "nightly export", "Disable…");
  await page.getByRole("button", { name: "Disable the key" }).click();
  await page.locator(".badge", { hasText: "disabled" }).waitFor();
  assert.equal(await ask(), 401);
  await act(page, "nightly export", "Enable");
  await page.locator(".badge", { hasText: "disabled" }).waitFor({ state: "detached" });
  assert.equal(await ask(), 200);
  await act(page, "nightly export", "Delete…");
  await page.getByRole("button", { name: "Delete the key" }).click();
  await page.getByRole("gridcell", { name: "nightly export", exact: true }).waitFor({ state: "detached" });
  assert.equal(await ask(), 401);
  const entries = await admin.call(api.audit.list, { resourceKind: "apiKey" });
  assert.deepEqual(
    entries.map(({ operation }) => operation),
    ["apiKeys.create", "apiKeys.update", "apiKeys.update", "apiKeys.delete"],
  );
  assert.deepEqual(complaints, []);
});

test("somebody is invited, joins in a browser of their own, is made an admin, and is out once removed", {
  skip,
}, async (t) => {
  const { open, openAlone, url } = await startPeople(t);
  const { page, complaints } = await open("/settings/members");
  await page.getByText("There is no member yet").waitFor();
  await page.getByRole("button", { name: "Invite somebody" }).click();
  await page.getByLabel("E-mail").fill("ada@example.org");
  await page.getByRole("button", { name: "Make the link" }).click();
  const link = await takeSecret(page);
  await page.getByRole("grid", { name: "Invitations" }).getByText("ada@example.org").waitFor();

  const ada = await openAlone(link.slice(url.length));
  await ada.page.getByLabel("New password").fill(PASSWORD);
  await ada.page.getByLabel("Repeat the password").fill(PASSWORD);
  await ada.page.getByRole("button", { name: "Join" }).click();
  await ada.page.waitForURL(/\/p\//);
  await ada.page.goto(`${url}/settings/members`);
  await ada.page.getByText("You may not see this.").waitFor();
  assert.equal(await ada.page.getByRole("link", { name: "Audit" }).count(), 0);

  await page.reload();
  await act(page, "ada@example.org", "Change to admin");
  await page.getByRole("gridcell", { name: "admin", exact: true }).waitFor();
  await ada.page.reload();
  await ada.page.getByRole("link", { name: "Audit" }).waitFor();
  await act(ada.page, "ada@example.org", "Change to user");
  await ada.page.getByRole("alert").getByText(/admin/).waitFor();

  await act(page, "ada@example.org", "Remove…");
  const status = async () => (await ada.page.request.get(`${url}/v1/me`)).status();
  assert.equal(await status(), 200);
  await page.getByRole("button", { name: "Remove the member" }).click();
  await page.getByRole("alert").or(page.getByText("There is no member yet")).waitFor();
  assert.deepEqual([...complaints, ...ada.complaints], []);
});

test("a removed member is signed out at once", { skip }, async (t) => {
  const { open, openAsMember, url } = await startPeople(t);
  await openAsMember("/", "owner@example.org", "admin");
  const ada = await openAsMember("/settings/account", "ada@example.org");
  await ada.page.getByText("this one").waitFor();
  const { page, complaints } = await open("/settings/members");
  await act(page, "ada@example.org", "Remove…");
  await page.getByRole("button", { name: "Remove the member" }).click();
  await page.getByRole("gridcell", { name: "ada@example.org", exact: true }).waitFor({ state: "detached" });
  assert.equal((await ada.page.request.get(`${url}/v1/me`)).status(), 401);
  await ada.page.reload();
  await ada.page.getByRole("heading", { name: "Sign in to Downlink" }).waitFor();
  assert.deepEqual([...complaints, ...ada.complaints], []);
});

test("a webhook is made, its ping arrives, what failed is sent again, and one that fails says why", {
  skip,
}, async (t) => {
  const { open } = await startPeople(t, { DOWNLINK_WEBHOOK_NETWORKS: "127.0.0.0/8" });
  const receiver = await startReceiver(t);
  const { page, complaints } = await open("/settings/webhooks");
  await page.getByText("There is no webhook.").waitFor();
  await page.getByRole("button", { name: "New webhook" }).click();
  await page.getByLabel("Name").fill("robots");
  await page.getByLabel("Address").fill("http://169.254.169.254/latest");
  await page.getByRole("checkbox", { name: "device.created" }).check();
  await page.getByRole("button", { name: "Make the webhook" }).click();
  await page.getByRole("alert").waitFor();
  assert.equal(await page.getByLabel("Name").inputValue(), "robots", "what was typed stays");
  await page.getByLabel("Address").fill(receiver.url);
  await page.getByRole("button", { name: "Make the webhook" }).click();
  await takeSecret(page);
  await page.getByRole("heading", { name: "robots" }).waitFor();

  receiver.answersWith(500);
  await page.getByRole("button", { name: "Send a ping" }).click();
  await eventually(
    async () => receiver.types,
    (types) => types.length === 1,
  );
  await page.getByRole("gridcell", { name: /500/ }).waitFor();
  receiver.answersWith(204);
  await page.getByRole("button", { name: /^Actions of ping/ }).click();
  await page.getByRole("menuitem", { name: "Send again now" }).click();
  await eventually(
    async () => receiver.types,
    (types) => types.length >= 2,
  );
  await page.getByRole("gridcell", { name: "delivered" }).waitFor();
  assert.deepEqual([...new Set(receiver.types)], ["ping"]);

  await page.getByRole("button", { name: "Disable" }).click();
  await page.getByRole("button", { name: "Enable" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Send a ping" }).count(), 0);
  await page.getByRole("button", { name: "Delete…" }).click();
  await page.getByRole("button", { name: "Delete the webhook" }).click();
  await page.getByText("There is no webhook.").waitFor();
  assert.deepEqual(complaints, []);
});

test("properties and event types are made, changed and deleted, and a refusal loses nothing that was typed", {
  skip,
}, async (t) => {
  const { open } = await startPeople(t);
  const { page, complaints } = await open("/settings/properties");
  await page.getByRole("button", { name: "New property" }).click();
  await page.getByLabel("Label").fill("Weather");
  await page.getByRole("textbox", { name: "Key" }).fill("weather");
  await page.getByLabel("It describes").selectOption("event");
  await page.getByLabel("It holds").selectOption("enum");
  await page.getByLabel("Values, one a line").fill("dry\nwet\n");
  await page.getByRole("button", { name: "Make the property" }).click();
  await page.getByText("enum: dry, wet").waitFor();
  await act(page, "Weather", "Change…");
  await page.getByLabel("Values, one a line").fill("dry");
  await page.getByRole("button", { name: "Change the property" }).click();
  await page.getByRole("alert").waitFor();
  assert.equal(await page.getByLabel("Values, one a line").inputValue(), "dry");
  await page.getByLabel("Values, one a line").fill("dry\nwet\nsnow");
  await page.getByRole("button", { name: "Change the property" }).click();
  await page.getByText("enum: dry, wet, snow").waitFor();

  await page.getByRole("link", { name: "Event types" }).click();
  await page.getByRole("button", { name: "New event type" }).click();
  await page.getByLabel("Name").fill("fall");
  await page.getByRole("checkbox", { name: "Weather" }).check();
  await page.getByRole("checkbox", { name: "Weather is required" }).check();
  await page.getByRole("button", { name: "Make the type" }).click();
  await page.getByText("Weather (required)").waitFor();
  await act(page, "fall", "Delete…");
  await page.getByRole("button", { name: "Delete the event type" }).click();
  await page.getByText("There is no event type.").waitFor();
  assert.deepEqual(complaints, []);
});

test("what was changed stands in the audit log, with the fields before and after, and is narrowed by its address", {
  skip,
}, async (t) => {
  const { open, admin } = await startPeople(t);
  const values = { resourceType: "device", valueType: "enum", enumValues: ["dry"] } as const;
  const property = { key: "weather", label: "Weather", ...values, enumValues: [...values.enumValues] };
  const { id } = await admin.call(api.customProperties.create, property);
  await admin.call(api.customProperties.update, { id, enumValues: ["dry", "snow"] });
  const { page, complaints } = await open("/settings/projects");
  await page.getByRole("button", { name: "New project" }).click();
  await page.getByLabel("Name").fill("secret robots");
  await page.getByRole("checkbox", { name: /Invite-only/ }).check();
  await page.getByRole("button", { name: "Make the project" }).click();
  await page.getByText("invite-only").waitFor();
  await page.getByRole("link", { name: "Audit" }).click();
  for (const operation of ["Project made", "Property changed"])
    await page.getByRole("button", { name: operation, exact: true }).waitFor();
  await page.getByLabel("Kind of resource").selectOption("customProperty");
  await page.getByRole("button", { name: "Project made" }).waitFor({ state: "detached" });
  assert.match(page.url(), /\?kind=customProperty$/);
  await page.getByRole("button", { name: "Property changed" }).click();
  await page.getByRole("dialog").getByRole("row", { name: /snow/ }).first().waitFor();
  assert.deepEqual(complaints, []);
});

test("a long audit log is read page by page, each entry once", { skip }, async (t) => {
  const { open, admin } = await startPeople(t);
  for (let number = 0; number < 130; number++)
    await admin.call(api.customProperties.create, {
      ...{ key: `k${number}`, label: `k${number}`, resourceType: "device", valueType: "string" },
    });
  const { page, complaints } = await open("/settings/audit");
  const grid = page.getByRole("grid", { name: "Audit log" });
  await grid.waitFor();
  assert.equal(await grid.getAttribute("aria-rowcount"), "101");
  await page.getByRole("button", { name: "Show more" }).click();
  await page.getByRole("button", { name: "Show more" }).waitFor({ state: "detached" });
  const { length } = await admin.call(api.audit.list, {});
  assert.equal(await grid.getAttribute("aria-rowcount"), String(length + 1));
  assert.deepEqual(complaints, []);
});
