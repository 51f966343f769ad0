import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import { startCloud } from "@downlink/cloud/testing";
import { api } from "@downlink/protocol";
import { makeMcap } from "@downlink/recordings/testing";
import type { Page } from "playwright-core";
import { openPage, signIn, startBrowser, whyNoBrowser } from "./testing/browser.ts";

const skip = whyNoBrowser() ?? false;

/** Serves an empty page, and returns its origin. */
async function startPage(): Promise<string> {
  const server = createServer((_request, response) =>
    response.setHeader("content-type", "text/html").end("<title>page</title>"),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Sends the file as a page does whose user chose it, in one request. */
function put(page: Page, link: string, file: Buffer): Promise<number | string> {
  return page.evaluate(
    async ([to, base64]) => {
      const bytes = Uint8Array.from(atob(base64!), (letter) => letter.charCodeAt(0));
      const answer = await fetch(to!, { method: "PUT", body: new File([bytes], "chosen.mcap") }).catch(String);
      return typeof answer === "string" ? answer : answer.status;
    },
    [link, file.toString("base64")],
  );
}

test("a page sends a file by a link with one PUT: our own under its policy, and of others those that the operator names", {
  skip,
}, async () => {
  const [named, other] = [await startPage(), await startPage()];
  const cloud = await startCloud({ after }, { environment: { DOWNLINK_LINK_ORIGINS: named } });
  const browser = await startBrowser();
  after(() => browser.close());
  const { page } = await openPage(browser);
  await signIn(page, cloud.url, cloud.adminKey);
  await page.goto(`${cloud.url}/docs`);
  const own = await page.evaluate(async () => {
    const body = JSON.stringify({ filename: "chosen.mcap", deviceName: "robot" });
    const asked = await fetch("/v1/data/upload", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    return ((await asked.json()) as { link: string }).link;
  });
  const file = async (startNs: bigint) => Buffer.from(await makeMcap({ startNs, durationSeconds: 1 }));
  assert.equal(await put(page, own, await file(1n)), 200);
  const newLink = async () =>
    (await cloud.admin.call(api.uploads.create, { filename: "a.mcap", deviceName: "robot" })).link;
  await page.goto(named);
  assert.equal(await put(page, await newLink(), await file(2n)), 200);
  await page.goto(other);
  assert.match(String(await put(page, await newLink(), await file(3n))), /TypeError/);
  const { rows } = await cloud.deps.db.pool.query(
    `SELECT count(*)::int AS stored FROM "ImportRequest" WHERE state <> 'awaiting'`,
  );
  assert.deepEqual(rows, [{ stored: 2 }]);
});
