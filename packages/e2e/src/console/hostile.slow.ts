import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { api, type Recording } from "@downlink/protocol";
import { demoTopics, eventually, makeMcap } from "@downlink/recordings/testing";
import type { Page } from "playwright-core";
import { whyNoBrowser } from "./testing/browser.ts";
import { startConsole } from "./testing/start-console.ts";

const START_NS = 1_760_000_000_000_000_000n;
const RUNS = "window.hostile=1";
const MARKUP = `<img src=x onerror=${RUNS}>`;
const QUOTES = `"'><b data-hostile onmouseover=${RUNS}>`;
/** A colour, a title and the end of a pasted text for a terminal, a byte that is an order, and a line that ends. */
const CONTROLS = "\u001b[31mred \u001b]0;owned\u0007 \u001b[201~ \u009b5m \u007f end\n of line";
const NAMES = [
  `${MARKUP}.mcap`,
  "\u202emcap.exe \u2067right\u2069.mcap",
  `${"é".repeat(122)}.mcap`,
  `${QUOTES}.mcap`,
  `${CONTROLS}.mcap`,
];
const [TOPIC, SCRIPT] = [`/${MARKUP}`, `<script>${RUNS}</script>`];
/** Anything of what a robot said that became more than text. */
const FOUND = `[window.hostile, document.querySelectorAll("img[src=x], [data-hostile], main script, dialog script").length]`;

test("whatever a robot calls its files, topics, metadata and attachments stays text in every place", {
  skip: whyNoBrowser(),
}, async (t) => {
  const scenario = await startConsole(t);
  const { admin } = scenario.cloud();
  for (const [at, name] of NAMES.entries()) await writeFile(join(scenario.storageRoot, name), await makeHostile(at));
  await writeFile(join(scenario.storageRoot, `${QUOTES} no recording.mcap`), SCRIPT);
  scenario.startAgent();
  const all = await eventually(scenario.recordings, ({ length }) => length === NAMES.length);
  const recording = all.find(({ path }) => path === NAMES[0])!;
  await admin.call(api.recordings.requestImport, { keyOrId: recording.id });
  await scenario.until("complete", recording.id);
  const device = recording.device!;
  const times = { start: START_NS, end: START_NS + 1_000_000_000n };
  const event = await admin.call(api.events.create, { deviceId: device.id, ...times, metadata: { [MARKUP]: SCRIPT } });

  for (const width of [1280, 390]) {
    const { page, complaints, settled } = await scenario.open("/recordings", { width });
    await page.getByRole("link", { name: NAMES[0]!, exact: true }).waitFor();
    const open = async (path: string, shown: string) => {
      await page.goto(scenario.home + path);
      await page
        .getByText(shown)
        .first()
        .waitFor({ state: "attached", timeout: 10_000 })
        .catch(() => assert.fail(`${path} does not show ${shown}`));
      await settled();
      await requireText(page, path);
    };
    for (const [path, shown] of pagesOf(recording, event)) await open(path, shown);
    await open(`/recordings/${recording.id}`, TOPIC);
    await page.getByRole("button", { name: "Export…" }).click();
    await page.getByRole("checkbox", { name: TOPIC }).waitFor();
    for (const command of ["curl", "dl", "Python"]) await page.getByText(command, { exact: true }).click();
    for (const text of await page.locator(".export-command pre").allTextContents())
      assert.doesNotMatch(text.replaceAll("\n", ""), /\p{Cc}/u, "a terminal acts on what is pasted");
    await requireText(page, "the export dialog");
    await open("/recordings", "⟨U+202E⟩mcap.exe ⟨U+2067⟩right⟨U+2069⟩.mcap");
    await page.locator("bdi", { hasText: "⟨U+001B⟩[31mred" }).first().waitFor();
    assert.deepEqual(complaints, []);
    await page.context().close();
  }
});

/** Where such texts are shown, each with one that has to be seen there. */
function pagesOf({ id, device }: Recording, event: { readonly id: string }): (readonly [string, string])[] {
  const span = "from=2025-10-09&to=2025-10-10";
  return [
    ["/recordings", NAMES[3]!],
    ["/recordings", "of line"],
    [`/recordings/${id}?tab=overview`, TOPIC],
    [`/recordings/${id}?tab=overview`, "owned"],
    [`/recordings/${id}?tab=preview`, TOPIC],
    [`/recordings/${id}?tab=attachments`, QUOTES],
    [`/recordings/${id}?tab=history`, "Imported"],
    [`/coverage?${span}&table=1`, device!.name],
    ["/imports?tab=done", NAMES[0]!],
    ["/imports?tab=unreadable", QUOTES],
    [`/devices/${device!.name}?tab=files`, QUOTES],
    ["/events", MARKUP],
    [`/events/${event.id}`, MARKUP],
  ];
}

function makeHostile(at: number): Promise<Uint8Array> {
  return makeMcap({
    startNs: START_NS + BigInt(at) * 60_000_000_000n,
    topics: [{ ...demoTopics[0]!, topic: TOPIC }, { ...demoTopics[1]!, topic: `/${CONTROLS}` }, ...demoTopics.slice(2)],
    metadata: [{ name: MARKUP, metadata: { [QUOTES]: SCRIPT, [CONTROLS]: CONTROLS } }],
    attachments: [{ name: `${QUOTES}.html`, mediaType: "text/html", data: Buffer.from(SCRIPT) }],
  });
}

async function requireText(page: Page, where: string): Promise<void> {
  assert.deepEqual(await page.evaluate(FOUND), [undefined, 0], where);
  const wide = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
  assert.equal(wide, 0, `${where} scrolls to the side`);
}
