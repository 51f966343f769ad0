import assert from "node:assert/strict";
import { test } from "node:test";
import { api, type Capability } from "@downlink/protocol";
import { eventually } from "@downlink/recordings/testing";
import type { Page } from "playwright-core";
import { findBarriers } from "./testing/axe.ts";
import { type Watched, whyNoBrowser } from "./testing/browser.ts";
import { keptSecrets } from "./testing/kept-secrets.ts";
import { type PeopleScenario, startPeople } from "./testing/start-people.ts";

const skip = whyNoBrowser();

const PAGES: Readonly<Record<string, Capability>> = {
  "/settings/keys": "apiKeys.list",
  "/settings/tokens": "deviceTokens.list",
  "/settings/members": "members.list",
  "/settings/projects": "projects.list",
  "/settings/properties": "properties.list",
  "/settings/event-types": "eventTypes.list",
  "/settings/webhooks": "webhooks.list",
  "/settings/extensions": "extensions.list",
  "/settings/audit": "audit.list",
  "/sites": "sites.list",
};

/** One of each, so that every page has a row. */
async function fill({ admin, projectId }: PeopleScenario) {
  await admin.call(api.devices.create, { name: "rover" });
  await admin.call(api.deviceTokens.create, { projectId });
  await admin.call(api.invitations.create, { email: "grace@example.org" });
  const property = { key: "weather", label: "Weather", resourceType: "event", valueType: "string" } as const;
  const { id } = await admin.call(api.customProperties.create, property);
  await admin.call(api.eventTypes.create, { name: "fall", customProperties: [{ id, required: true }] });
  const hook = { name: "robots", url: "https://example.org/hooks", eventTypes: ["device.created"] } as const;
  const webhook = await admin.call(api.webhooks.create, { ...hook, eventTypes: [...hook.eventTypes] });
  const site = await admin.call(api.sites.create, { name: "hall 3", type: "edge" });
  await admin.call(api.siteTokens.create, { siteId: site.id });
  return { webhookId: webhook.id, siteId: site.id };
}

/** Waits until a page of the settings shows what it has. */
async function settle({ page, settled }: Watched) {
  await page.getByRole("heading", { level: 1 }).waitFor();
  await settled();
  await page.locator(".table-waits").first().waitFor({ state: "detached" });
}

/** The calls of a page that the service refused. */
function watchRefusals(page: Page): string[] {
  const refused: string[] = [];
  page.on("response", (response) => {
    if (response.status() === 403) refused.push(response.url());
  });
  return refused;
}

test("a key that may only list sees a page without any button that it may not press, and is refused nothing", {
  skip,
}, async (t) => {
  const people = await startPeople(t, { DOWNLINK_WEBHOOK_NETWORKS: "127.0.0.0/8" });
  await fill(people);
  for (const [path, capability] of Object.entries(PAGES)) {
    const watched = await people.open("/sign-in", { key: await people.addKey([capability]) });
    const { page, complaints, context } = watched;
    const refused = watchRefusals(page);
    await page.goto(people.url + path);
    await settle(watched);
    const buttons = await page.locator("main").getByRole("button").allInnerTexts();
    const dead = buttons.filter((text) => /New|Change|Delete|Disable|Invite|Publish|Remove|Withdraw|⋯/.test(text));
    const isExpected = capability === "extensions.list" ? dead.every((text) => text.includes("⋯")) : dead.length === 0;
    assert.ok(isExpected, `${path}: ${dead}`);
    const tabs = await page.getByRole("navigation", { name: "Settings" }).getByRole("link").allInnerTexts();
    if (path !== "/sites") assert.equal(tabs.length, 3, `${path}: ${tabs}`);
    assert.deepEqual(refused, [], path);
    assert.deepEqual(complaints, []);
    await context.close();
  }
});

test("a key that is limited to a project sees what is of its project, and is offered nothing of the organization", {
  skip,
}, async (t) => {
  const people = await startPeople(t, { DOWNLINK_WEBHOOK_NETWORKS: "127.0.0.0/8" });
  await fill(people);
  const { id: other } = await people.admin.call(api.projects.create, { name: "another project" });
  const key = await people.addKey(["*" as Capability], [other]);
  const watched = await people.open("/settings", { key });
  const { page, complaints } = watched;
  const refused = watchRefusals(page);
  await page.waitForURL(/\/settings\/keys$/);
  for (const name of ["Device tokens", "Projects", "Properties", "Event types", "Webhooks", "Extensions"]) {
    await page.getByRole("link", { name }).click();
    await settle(watched);
  }
  assert.equal(await page.getByRole("link", { name: "Members" }).count(), 0);
  assert.equal(await page.getByRole("link", { name: "Audit" }).count(), 0);
  await page.goto(`${people.url}/settings/projects`);
  await settle(watched);
  assert.equal(await page.getByRole("button", { name: "New project" }).count(), 0);
  assert.deepEqual(await page.getByRole("grid").getByRole("link").allInnerTexts(), ["another project"]);
  await page.goto(`${people.url}/settings/webhooks`);
  await page.getByText("There is no webhook.").waitFor();
  await page.goto(`${people.url}/settings/members`);
  await page.getByText("You may not see this.").waitFor();
  assert.deepEqual(refused, []);
  assert.deepEqual(complaints, []);
});

test("another organization's ids in an address show nothing of it", { skip }, async (t) => {
  const people = await startPeople(t, { DOWNLINK_WEBHOOK_NETWORKS: "127.0.0.0/8" });
  const { webhookId, siteId } = await fill(people);
  const other = await people.otherOrganization();
  const { token } = await other.call(api.apiKeys.create, { name: "all", capabilities: ["*"] });
  const watched = await people.open("/settings", { key: token! });
  const { page, complaints } = watched;
  for (const path of [
    `/settings/webhooks/${webhookId}`,
    `/sites/${siteId}`,
    `/settings/audit?resource=${webhookId}`,
    ...Object.keys(PAGES),
  ]) {
    await page.goto(people.url + path);
    await settle(watched);
    const shown = (await page.locator("main").textContent())!;
    for (const theirs of ["hall 3", "robots", "example.org", "Weather", "fall"])
      assert.ok(!shown.includes(theirs), `${path} shows ${theirs}`);
  }
  await page.goto(`${people.url}/sites/${siteId}`);
  await page.getByRole("alert").getByText("Not there").waitFor();
  assert.deepEqual(complaints, []);
});

test("axe finds nothing on any page, in both themes, on a desk and on a phone, also in the dialogs", {
  skip,
}, async (t) => {
  const people = await startPeople(t, { DOWNLINK_WEBHOOK_NETWORKS: "127.0.0.0/8" });
  const { webhookId, siteId } = await fill(people);
  const more = [`/settings/webhooks/${webhookId}`, `/sites/${siteId}`, "/settings/account", "/settings/appearance"];
  for (const theme of ["light", "dark"] as const)
    for (const width of [390, 1280]) {
      const watched = await people.open("/settings", { look: { theme, width } });
      const { page, complaints, context } = watched;
      for (const path of [...Object.keys(PAGES), ...more]) {
        await page.goto(people.url + path);
        await settle(watched);
        assert.deepEqual(await findBarriers(page), [], `${path}, ${theme}, ${width} px`);
        const opener = page.getByRole("button", { name: /^(New|Invite|Publish|Change…)/ }).first();
        if ((await opener.count()) === 0) continue;
        await opener.click();
        await page.getByRole("dialog").waitFor();
        assert.deepEqual(await findBarriers(page), [], `the dialog of ${path}, ${theme}, ${width} px`);
        await page.keyboard.press("Escape");
        // The page goes back over the entry of the dialog, which breaks off a navigation that begins before it.
        await eventually(
          () => page.evaluate<number>("history.state?.layers"),
          (depth) => depth === 0,
        );
      }
      assert.deepEqual(await keptSecrets(page), []);
      assert.deepEqual(complaints, []);
      await context.close();
    }
});
