import assert from "node:assert/strict";
import { test } from "node:test";
import { findBarriers } from "./testing/axe.ts";
import { openPage, whyNoBrowser } from "./testing/browser.ts";
import { startConsole } from "./testing/start-console.ts";

const skip = whyNoBrowser();
const files = { "run-1.mcap": 3, "run-2.mcap": 2, "dock.mcap": 1 };

test("files of a robot are found, filtered, asked for together, and seen to arrive", { skip }, async (t) => {
  const { open } = await startConsole(t, { files });
  const { page, complaints } = await open("/recordings");
  await page.getByRole("link", { name: "run-1.mcap" }).waitFor();
  assert.equal(await page.getByRole("row").filter({ hasText: "on the device" }).count(), 3);

  await page.getByRole("checkbox", { name: "Select" }).first().check();
  await page.getByText("1 selected").waitFor();
  await page.getByPlaceholder("Path contains").fill("run");
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "dock.mcap" }).waitFor({ state: "detached" });
  assert.match(page.url(), /\?path=run$/);
  assert.equal(await page.getByText("1 selected").count(), 0, "what is out of sight does not stay selected");

  await page.getByRole("checkbox", { name: "Select" }).first().check();
  await page.getByRole("button", { name: /^Select all 2/ }).click();
  await page.getByRole("button", { name: "Import" }).click();
  await page.getByRole("menuitem", { name: "Import first" }).click();
  await page.getByText("2 requested").waitFor();
  await page.reload();
  const imported = page.getByRole("row").filter({ hasText: "imported" });
  for (let tries = 0; (await imported.count()) < 2 && tries < 100; tries++) {
    await page.waitForTimeout(200);
    await page.reload();
    await page.getByRole("link", { name: "run-1.mcap" }).waitFor();
  }
  assert.equal(await imported.count(), 2);
  assert.deepEqual(complaints, []);
});

test("what was selected is selected again after Back", { skip }, async (t) => {
  const { open } = await startConsole(t, { files });
  const { page } = await open("/recordings");
  await page.getByRole("checkbox", { name: "Select" }).nth(1).check();
  await page.getByText("1 selected").waitFor();
  await page.getByRole("link", { name: "dock.mcap" }).click();
  await page.getByRole("heading", { name: "dock.mcap" }).waitFor();
  await page.goBack();
  await page.getByText("1 selected").waitFor();
  assert.ok(await page.getByRole("checkbox", { name: "Select" }).nth(1).isChecked());
});

test("the list is used with the keyboard alone", { skip }, async (t) => {
  const { open } = await startConsole(t, { files });
  const { page, complaints } = await open("/recordings?sort=path&order=asc");
  await page.getByRole("link", { name: "dock.mcap" }).waitFor();
  await page.keyboard.press("j"); // from the page into the list
  await page.locator('[role="row"][data-index="0"]:focus').waitFor();
  for (const key of ["x", "j", "x"]) await page.keyboard.press(key);
  await page.getByText("2 selected").waitFor();
  await page.keyboard.press("Escape");
  await page.getByText("2 selected").waitFor({ state: "detached" });
  await page.keyboard.press("f");
  await page.keyboard.type("nowhere");
  await page.keyboard.press("Enter");
  await page.getByText("No recording matches all filters.").waitFor();
  await page.getByRole("button", { name: "✕ path: nowhere" }).click();
  await page.getByRole("link", { name: "run-2.mcap" }).waitFor();
  await page.locator("#page").focus();
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keyboard shortcuts" }).getByText("Select the row").waitFor();
  await page.keyboard.press("Escape");
  assert.equal(await page.getByRole("dialog").count(), 0);
  assert.deepEqual(complaints, []);
});

test("without a session an address leads to the sign-in alone, from there on to where it was, and shows nothing before", {
  skip,
}, async (t) => {
  const { browser, home, cloud } = await startConsole(t, { files });
  const { page, complaints } = await openPage(browser);
  await page.goto(`${home}/recordings?path=run`);
  await page.getByRole("heading", { name: "Sign in to Downlink" }).waitFor();
  assert.equal(await page.getByRole("link", { name: "run-1.mcap" }).count(), 0);
  assert.equal(await page.getByRole("navigation").count(), 0);
  await page.getByLabel("API key").fill("wrong"); // no person has an account yet, so a key is what is asked for first
  await page.keyboard.press("Enter");
  await page.getByRole("alert").getByText("Not accepted.").waitFor();
  await page.getByLabel("API key").fill(cloud().adminKey);
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "run-1.mcap" }).waitFor();
  assert.match(page.url(), /path=run$/);
  assert.deepEqual(complaints, []);
  const kept = await page.evaluate<string>("JSON.stringify([{ ...localStorage }, document.cookie])");
  assert.ok(!kept.includes("dl_"), kept);
});

test("axe finds nothing, in both themes, on a desk and on a phone", { skip }, async (t) => {
  const { open } = await startConsole(t, { files });
  for (const theme of ["light", "dark"] as const)
    for (const width of [390, 1280]) {
      const { page, complaints, context } = await open("/recordings?from=soon", { theme, width });
      await page.getByRole("link", { name: "run-1.mcap" }).waitFor();
      await page.getByRole("checkbox", { name: "Select" }).first().check();
      assert.deepEqual(await findBarriers(page), [], `${theme}, ${width} px`);
      assert.deepEqual(complaints, []);
      await context.close();
    }
});

test("a view is saved, comes back with its filters, and is deleted", { skip }, async (t) => {
  const { open } = await startConsole(t, { files });
  const { page, complaints } = await open("/recordings?path=run");
  const views = page.getByRole("button", { name: "Views" });
  const choose = async (name: string) => {
    await views.click();
    await page.getByRole("menuitem", { name }).click();
  };
  await choose("Save this view…");
  await page.getByLabel("Name", { exact: true }).fill("Runs");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("The view Runs was saved.").waitFor();
  await page.getByPlaceholder("Path contains").fill("");
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "dock.mcap" }).waitFor();
  await choose("Runs");
  await page.getByRole("link", { name: "dock.mcap" }).waitFor({ state: "detached" });
  assert.match(page.url(), /\?path=run$/);
  await choose("Delete views…");
  assert.deepEqual(await findBarriers(page), []);
  await page.getByRole("button", { name: "Delete Runs" }).click();
  await page.getByText("No view of this page is left.").waitFor();
  assert.deepEqual(complaints, []);
});
