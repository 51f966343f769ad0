import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { globSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { startCloud } from "@downlink/cloud/testing";
import { findBarriers } from "./testing/axe.ts";
import { openPage, startBrowser, whyNoBrowser } from "./testing/browser.ts";

const ROOT = join(import.meta.dirname, "../../../..");
const INLINE_SCRIPT = /<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g;
const skip = whyNoBrowser();
const cloud = await startCloud({ after }, { works: false, environment: { DOWNLINK_CONSOLE: "on" } });
const paths = globSync("**/*.md", { cwd: join(ROOT, "docs") })
  .sort()
  .map((page) => `/guide/${page.replace(/(^|(?<=\/))index\.md$|\.md$/, "")}`);

before(() => execFileSync(process.execPath, ["scripts/build-guide.ts"], { cwd: ROOT, stdio: "pipe" }));

const open = (path: string) => fetch(cloud.url + path, { headers: { accept: "text/html" } });

test("every page is served, and each of its links leads to a page or a heading that is there", async () => {
  const pages = new Map<string, string>();
  for (const path of paths) {
    const answer = await open(path);
    assert.equal(answer.status, 200, path);
    pages.set(path, await answer.text());
  }
  assert.ok(pages.size > 30 && pages.has("/guide/"));
  let followed = 0;
  for (const [path, html] of pages)
    for (const { pathname, hash } of linksOf(html, cloud.url + path)) {
      const target = pages.get(pathname) ?? assert.fail(`${path} leads to ${pathname}`);
      const heading = decodeURIComponent(hash.slice(1));
      assert.ok(heading === "" || target.includes(` id="${heading}"`), `${path} leads to ${pathname}${hash}`);
      followed += 1;
    }
  assert.ok(followed > 1000, `${followed} links`);
});

function linksOf(html: string, base: string): URL[] {
  const links = Array.from(html.matchAll(/<a\b[^>]*?\shref="([^"]+)"/g), ([, href]) => href!.replaceAll("&amp;", "&"));
  return links.map((href) => new URL(href, base)).filter(({ origin }) => origin === new URL(base).origin);
}

test("a page has no script of its own but those that its policy names", async () => {
  for (const path of [...paths, "/guide/nowhere"]) {
    const answer = await open(path);
    const policy = answer.headers.get("content-security-policy")!;
    assert.doesNotMatch(policy.replace("style-src-attr 'unsafe-inline'", ""), /unsafe/);
    const html = await answer.text();
    for (const [, script] of html.matchAll(INLINE_SCRIPT))
      assert.ok(policy.includes(`'sha256-${createHash("sha256").update(script!).digest("base64")}'`), path);
    assert.doesNotMatch(html, /<[^>]*\son\w+="/, `${path} has no handler in an attribute`);
  }
});

test("a browser shows pages in light and dark, wide and narrow, without a complaint, and asks no other host", {
  skip,
}, async () => {
  await using browser = await startBrowser();
  for (const theme of ["light", "dark"] as const)
    for (const width of [1280, 390]) {
      const { page, complaints, context, settled } = await openPage(browser, { theme, width });
      page.on("request", (request) => request.url().startsWith(cloud.url) || complaints.push(request.url()));
      for (const path of ["/guide/", "/guide/reference/settings", "/guide/explanation/architecture"]) {
        await page.goto(cloud.url + path);
        await settled();
        const isDark = await page.evaluate("document.documentElement.classList.contains('dark')");
        assert.equal(isDark, theme === "dark");
        const overflow = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
        assert.equal(overflow, 0, `${path} at ${width}`);
        assert.deepEqual(await findBarriers(page), [], `${path} ${theme} ${width}`);
      }
      await page.goto(`${cloud.url}/guide/nowhere`);
      await page.getByRole("link", { name: /home/i }).first().waitFor();
      assert.deepEqual(complaints, []);
      await context.close();
    }
});

test("the search finds a word of a page, and leads to it", { skip }, async () => {
  await using browser = await startBrowser();
  const { page, complaints } = await openPage(browser);
  await page.goto(`${cloud.url}/guide/`);
  await page
    .getByRole("button", { name: /Search/ })
    .first()
    .click();
  await page.getByRole("searchbox").fill("DOWNLINK_WEBHOOK_NETWORKS");
  await page.getByRole("option").filter({ hasText: "Webhooks" }).first().click();
  await page.waitForURL(/\/guide\/guides\/developer\/webhooks/);
  await page.getByRole("heading", { level: 1, name: "Webhooks" }).waitFor();
  assert.deepEqual(complaints, []);
});
