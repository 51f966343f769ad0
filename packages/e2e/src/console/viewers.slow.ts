import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { api } from "@downlink/protocol";
import { decompressHandlers, readIndexedMessages } from "@downlink/recordings/testing";
import { McapIndexedReader } from "@mcap/core";
import type { Page } from "playwright-core";
import { findBarriers } from "./testing/axe.ts";
import { whyNoBrowser } from "./testing/browser.ts";
import { type ConsoleScenario, startConsole } from "./testing/start-console.ts";

const skip = whyNoBrowser();

/** Serves an empty page, as that of a viewer, of an origin of its own. */
async function startPages(t: { after(close: () => Promise<unknown>): void }): Promise<string> {
  const server = createServer((_request, response) => {
    response.setHeader("content-type", "text/html");
    response.end("<!doctype html><title>Viewer</title>");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(async () => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test("a recording is opened in a named viewer, whose page reads it by ranges; another page reads nothing", {
  skip,
}, async (t) => {
  const [viewer, stranger] = [await startPages(t), await startPages(t)];
  const viewers = [{ name: "Lichtblick", url: `${viewer}/?ds=remote-file&ds.url={link}` }];
  const cloudEnv = { DOWNLINK_VIEWERS: JSON.stringify(viewers) };
  const scenario = await startConsole(t, { files: { "run-1.mcap": 3 }, cloudEnv });
  const id = await scenario.requestOnly();
  await scenario.until("complete", id);
  const { page, complaints, context } = await scenario.open(`/recordings/${id}`);
  await page.getByRole("button", { name: "Open in Lichtblick…" }).click();
  const dialog = page.getByRole("dialog", { name: "Open in a viewer" });
  await dialog.getByRole("checkbox", { name: "/imu" }).uncheck();
  await dialog.getByText(`A page of ${viewer} reads the data in your browser.`).waitFor();
  assert.deepEqual(await findBarriers(page), []);
  await dialog.getByRole("button", { name: "Open in Lichtblick" }).click();
  const opening = context.waitForEvent("page");
  await dialog.getByRole("link", { name: "It is ready: open Lichtblick" }).click();
  const opened = await opening;
  await opened.waitForLoadState();
  const link = new URL(opened.url()).searchParams.get("ds.url")!;
  assert.match(new URL(link).pathname, /\.mcap$/);

  await compareWithExport(scenario, { id, link, opened });
  await opened.goto(stranger);
  await assert.rejects(readRange(opened, link, "0-0"), /Failed to fetch/);
  assert.deepEqual(complaints, []);
});

interface Opened {
  readonly id: string;
  readonly link: string;
  readonly opened: Page;
}

/** The probes and the reading are those of Lichtblick, and the messages those of the export. */
async function compareWithExport({ cloud }: ConsoleScenario, { id, link, opened }: Opened): Promise<void> {
  const probe = await readRange(opened, link, "0-0");
  assert.deepEqual([probe.status, probe.bytes.length], [206, 1]);
  const sizeBytes = BigInt(/\/(\d+)$/.exec(probe.contentRange ?? "")![1]!);
  const readable = {
    size: async () => sizeBytes,
    read: async (offset: bigint, length: bigint) =>
      (await readRange(opened, link, `${offset}-${offset + length - 1n}`)).bytes,
  };
  const reader = await McapIndexedReader.Initialize({ readable, decompressHandlers });
  const times: bigint[] = [];
  for await (const { logTime } of reader.readMessages()) times.push(logTime);
  const topics = (await cloud().admin.call(api.recordings.topics, { keyOrId: id })).map(({ topic }) => topic);
  const wanted = topics.filter((topic) => topic !== "/imu");
  const made = await cloud().admin.call(api.exports.create, { recordingId: id, topics: wanted });
  const exported = await readIndexedMessages(new Uint8Array(await (await fetch(made.link)).arrayBuffer()));
  assert.ok(times.length > 0);
  assert.deepEqual(
    times,
    exported.map(({ logTimeNs }) => logTimeNs),
  );
}

/** Fetches a range in the page, as a viewer does. */
async function readRange(page: Page, link: string, range: string) {
  const answer = await page.evaluate(
    async ([url, wanted]) => {
      const response = await fetch(url!, { headers: { range: `bytes=${wanted}` } });
      const contentRange = response.headers.get("content-range");
      return { status: response.status, contentRange, bytes: [...new Uint8Array(await response.arrayBuffer())] };
    },
    [link, range],
  );
  return { ...answer, bytes: Uint8Array.from(answer.bytes) };
}
