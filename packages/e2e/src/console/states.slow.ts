// Pages under faults of the network and of a busy service: every page is opened under each fault. No page is blank, each says what is
// wrong, and works again once the fault is over.
import assert from "node:assert/strict";
import { test } from "node:test";
import { api } from "@downlink/protocol";
import pg from "pg";
import type { Page, Route } from "playwright-core";
import { whyNoBrowser } from "./testing/browser.ts";
import { type ConsoleScenario, startConsole } from "./testing/start-console.ts";

const skip = whyNoBrowser();
const PAGES = ["/recordings", "/events", "/datasets", "/episodes"];

const refuse = (status: number, body: { code: string; error: string }) => (route: Route) =>
  route.fulfill({
    status,
    headers: { "retry-after": "1" },
    contentType: "application/json",
    body: JSON.stringify(body),
  });

interface Fault {
  readonly name: string;
  readonly answer: (route: Route) => Promise<void>;
  /** The text by which the page reports the fault. */
  readonly says: RegExp;
}

const FAULTS: readonly Fault[] = [
  { name: "no connection", answer: (route) => route.abort("connectionrefused"), says: /not reachable/i },
  {
    name: "a page of somebody else",
    answer: (route) => route.fulfill({ status: 200, contentType: "text/html", body: "<h1>Welcome to the hotel</h1>" }),
    says: /not reachable/i,
  },
  {
    name: "not allowed",
    answer: refuse(403, { code: "MissingCapability", error: "the API key lacks the capability x.list" }),
    says: /Not allowed\. The API key lacks/,
  },
  {
    name: "too busy",
    answer: refuse(503, { code: "NotReady", error: "the database does not answer" }),
    says: /Too busy/,
  },
  { name: "too many calls", answer: refuse(429, { code: "RateLimited", error: "too many calls" }), says: /Too busy/ },
  {
    name: "a fault of the service",
    answer: refuse(500, { code: "Internal", error: "something broke" }),
    says: /Failed\. Something broke/,
  },
];

/** Faults touch the lists of the page and not who is signed in, because the frame would hide the page otherwise. */
const isList = (url: URL) => url.pathname.startsWith("/v1/") && !url.pathname.startsWith("/v1/me");

for (const fault of FAULTS)
  test(`${fault.name}: every page says so, and is whole again afterwards`, { skip }, async (t) => {
    const console = await startConsole(t, { files: { "run-1.mcap": 1 } });
    const { page, complaints } = await console.open("/recordings");
    await page.getByRole("link", { name: "run-1.mcap" }).waitFor();
    for (const path of PAGES) await breakAndHeal(page, console, { fault, path });
    assert.deepEqual(
      complaints.filter((complaint) => !/^50[03] /.test(complaint)),
      [],
    );
  });

async function breakAndHeal(page: Page, { home }: ConsoleScenario, { fault, path }: { fault: Fault; path: string }) {
  await page.route(isList, fault.answer);
  await page.goto(home + path);
  await page.getByText(fault.says).first().waitFor({ timeout: 60_000 });
  assert.notEqual((await page.getByRole("heading", { level: 1 }).textContent())?.trim(), "", `${path} is not blank`);
  await page.unroute(isList);
  const tries = page.getByRole("button", { name: /^Try (again|now)$/ });
  // A page may have healed by itself before anybody pressed anything.
  if ((await tries.count()) > 0)
    await tries
      .first()
      .click({ timeout: 5000 })
      .catch(() => undefined);
  await page.getByText(fault.says).first().waitFor({ state: "detached" });
}

test("a page that was never open opens by itself once the connection is back", { skip }, async (t) => {
  const console = await startConsole(t, { files: { "run-1.mcap": 1 } });
  const { page, context, complaints } = await console.open("/recordings");
  await page.getByRole("link", { name: "run-1.mcap" }).waitFor();
  await context.setOffline(true);
  await page.getByRole("link", { name: "Events" }).click();
  await page.getByRole("alert").getByText("The control plane has not answered for").waitFor();
  await page.locator("main").getByText("This page cannot be loaded now").waitFor();
  assert.equal(await page.getByRole("link", { name: "run-1.mcap" }).count(), 0, "the page before is gone");
  await page.getByRole("link", { name: "Datasets" }).click();
  await page.locator("main").getByText("This page cannot be loaded now").waitFor();
  await page.getByRole("link", { name: "Events" }).click();
  assert.equal(await page.getByText("A new version").count(), 0);
  await context.setOffline(false);
  await page.getByRole("heading", { name: "Events", level: 1 }).waitFor();
  assert.match(page.url(), /\/events$/);
  assert.deepEqual(complaints, []);
});

test("a part that is gone for a new version says so, and one that is gone for no reason says that", {
  skip,
}, async (t) => {
  const console = await startConsole(t, { files: { "run-1.mcap": 1 } });
  const { page } = await console.open("/recordings");
  await page.getByRole("link", { name: "run-1.mcap" }).waitFor();
  await page.route(/\/assets\/(events|datasets)-page/, (route) => route.fulfill({ status: 404, body: "" }));
  await page.getByRole("link", { name: "Events" }).click();
  const banner = page.getByRole("status");
  await banner.filter({ hasText: "A part of this page could not be loaded." }).waitFor();
  await page.locator("main").getByText("This page could not be loaded.").waitFor();
  await page.route("**/", (route) => route.fulfill({ body: "<script type=module src=/assets/index-new.js></script>" }));
  await page.getByRole("link", { name: "Datasets" }).click();
  await banner.filter({ hasText: "A new version of these pages is here." }).waitFor();
});

test("a session that ends in the middle of typing loses nothing of what was typed", { skip }, async (t) => {
  const console = await startConsole(t, { files: { "run-1.mcap": 1 } });
  const { page, context } = await console.open("/events");
  await page.getByRole("button", { name: "Mark an event" }).click();
  const dialog = page.getByRole("dialog", { name: "Mark an event" });
  await dialog.getByLabel("Device").fill("rover");
  await dialog.getByLabel("Start").fill("2025-10-09 08:53:20");
  await dialog.getByLabel("Metadata").fill("note: typed for a while");
  await context.clearCookies();
  await dialog.getByRole("button", { name: "Mark", exact: true }).click();
  const signIn = page.getByRole("dialog", { name: "Sign in" });
  await signIn.getByLabel("API key").fill(console.cloud().adminKey);
  await page.keyboard.press("Enter");
  await signIn.waitFor({ state: "detached" });
  assert.equal(await dialog.getByLabel("Metadata").inputValue(), "note: typed for a while");
  await dialog.getByRole("button", { name: "Mark", exact: true }).click();
  await page.getByRole("row").filter({ hasText: "typed for a while" }).waitFor();
});

test("while a page is on its way it shows where its data will be, and data that were there stay until the new ones are", {
  skip,
}, async (t) => {
  const console = await startConsole(t, { files: { "run-1.mcap": 1 } });
  const { page, complaints } = await console.open("/events");
  await page.getByRole("heading", { name: "Events" }).waitFor();
  let held = Promise.withResolvers<void>();
  await page.route(isList, async (route) => {
    await held.promise;
    await route.continue();
  });
  const found = page.getByRole("link", { name: "run-1.mcap" });
  for (const [key, waiting] of [
    ["c", ".lanes-skeleton"],
    ["r", '[role="row"][aria-busy]'],
  ] as const) {
    for (const one of ["g", key]) await page.keyboard.press(one);
    await page.locator(waiting).first().waitFor();
    await page.locator(".progress-line.on").waitFor({ state: "attached" });
  }
  held.resolve();
  await found.waitFor();
  held = Promise.withResolvers();
  for (const key of ["g", "e"]) await page.keyboard.press(key);
  await found.waitFor({ state: "detached" });
  for (const key of ["g", "r"]) await page.keyboard.press(key);
  await found.waitFor();
  held.resolve();
  assert.deepEqual(complaints, []);
});

test("while the control plane is gone what was shown stays, with its age, and what is new comes once it is back", {
  skip,
}, async (t) => {
  const scenario = await startConsole(t, { files: { "run-1.mcap": 1 } });
  const { page, complaints } = await scenario.open("/recordings");
  const row = page.getByRole("row").filter({ hasText: "run-1.mcap" });
  await row.getByText("on the device").waitFor();
  await scenario.killCloud();
  const banner = page.getByRole("alert").filter({ hasText: "The control plane has not answered for" });
  await banner.getByText(/answered for ([3-9]|\d\d) s\. This page shows earlier data/).waitFor();
  await row.getByText("on the device").waitFor();
  await scenario.restartCloud();
  await banner.waitFor({ state: "detached" });
  await scenario.requestOnly();
  await scenario.until("complete");
  await row.getByText("imported").waitFor({ timeout: 60_000 });
  assert.deepEqual(complaints, []);
});

test("of two people who change the same rules the second reads what the first saved, and keeps what they typed", {
  skip,
}, async (t) => {
  const { cloud, agentOptions, open, databaseUrl } = await startConsole(t);
  const { admin } = cloud();
  const id = await addBucket(databaseUrl!);
  const { page, complaints } = await open("/recordings");
  await page.goto(`${agentOptions.url}/sites/${id}`);
  const typed = page.getByLabel("Pattern of rule 1");
  await page.getByRole("button", { name: "Add a rule" }).click();
  await typed.fill("mine/**");
  const rules = [{ pattern: "theirs/**", action: { type: "ignore" as const } }];
  await admin.call(api.ingestPathPolicies.save, { id, schemaVersion: 1, rules, previousRevision: 0 });
  await page.getByRole("button", { name: "Save as revision 1" }).click();
  await page.getByText("Somebody else saved revision 1 meanwhile.").waitFor();
  await page.getByText("Not possible now.").waitFor();
  assert.equal(await typed.inputValue(), "mine/**");
  await page.getByRole("button", { name: "Take revision 1" }).click();
  assert.equal(await typed.inputValue(), "theirs/**");
  await typed.fill("both/**");
  await page.getByRole("button", { name: "Save as revision 2" }).click();
  await page.getByText("Revision 2 applies from now on.").waitFor();
  assert.deepEqual(complaints, []);
});

/** Makes the site of a bucket as the operator's command does, but without the bucket, which is not read in this test. */
async function addBucket(databaseUrl: string): Promise<string> {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  await client.query(
    `INSERT INTO "Site" (id, "orgId", name, type, "createdAtNs") SELECT 'site_bucket', id, 'hall 3', 'byob', 1 FROM "Organization"`,
  );
  await client.end();
  return "site_bucket";
}

test("where somebody else answers a list and the service the rest, the list is not asked for again and again", {
  skip,
}, async (t) => {
  const console = await startConsole(t, { files: { "run-1.mcap": 1 } });
  const { page } = await console.open("/events");
  let asked = 0;
  await page.route(isList, async (route) => {
    asked += 1;
    await route.fulfill({ status: 200, contentType: "text/html", body: "<h1>Welcome to the hotel</h1>" });
  });
  await page.goto(`${console.home}/datasets`);
  await page
    .getByText(/not reachable/i)
    .first()
    .waitFor();
  await page.getByRole("button", { name: "Try now" }).click();
  const before = asked;
  await page.waitForTimeout(4000);
  assert.ok(asked - before <= 5, `${asked - before} calls in four seconds`);
});

test("whoever signs out without reaching the service reads that the session goes on", { skip }, async (t) => {
  const console = await startConsole(t, { files: { "run-1.mcap": 1 } });
  const { page, complaints } = await console.open("/recordings");
  await page.getByRole("link", { name: "run-1.mcap" }).waitFor();
  await page.route("**/v1/session", (route) => route.abort("connectionrefused"));
  const signOut = async () => {
    await page.getByRole("button", { name: /^Account/ }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
  };
  await signOut();
  await page.getByText("You are still signed in.").waitFor();
  await page.getByRole("link", { name: "run-1.mcap" }).waitFor();
  await page.unroute("**/v1/session");
  await signOut();
  await page.getByRole("heading", { name: "Sign in to Downlink" }).waitFor();
  assert.equal(await page.getByRole("link", { name: "run-1.mcap" }).count(), 0, "nothing of before is shown");
  assert.deepEqual(complaints, []);
});
