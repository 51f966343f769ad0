import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { api } from "@downlink/protocol";
import { eventually, makeMcap, writeMcapFile } from "@downlink/recordings/testing";
import type { BrowserContext, Page } from "playwright-core";
import { sha256Of } from "../processes/scenario.ts";
import { findBarriers } from "./testing/axe.ts";
import { openPage, signIn, whyNoBrowser } from "./testing/browser.ts";
import { type ConsoleScenario, startConsole } from "./testing/start-console.ts";

const skip = whyNoBrowser() ?? false;
const PART_BYTES = 5 * 1024 * 1024;

type After = Parameters<typeof startConsole>[0];

/** Makes a file of about 40 MB that no compression makes smaller: eight parts. */
async function makeFile(t: After, name = "large.mcap"): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "downlink-upload-"));
  t.after(() => rm(folder, { recursive: true }));
  const path = join(folder, name);
  const topics = [{ topic: "/blob", kind: "blob" as const, rateHz: 10, sizeBytes: 800_000 }];
  await writeMcapFile(path, { topics, durationSeconds: 5, compression: "" });
  return path;
}

const tray = (page: Page) => page.getByRole("region", { name: "Uploads" });

/** Chooses files in the dialog, names the device, and sends them. */
async function upload(page: Page, paths: readonly string[], device = "rover"): Promise<void> {
  await page.getByRole("button", { name: "Upload files" }).first().click();
  const dialog = page.getByRole("dialog", { name: "Upload files" });
  await dialog.locator("input[type=file]").setInputFiles([...paths]);
  await dialog.getByLabel("Device").fill(device);
  await dialog.getByRole("button", { name: "Upload", exact: true }).click();
  await dialog.waitFor({ state: "detached" });
}

/** Collects the numbers of the parts that were sent whole, or made of their pieces, and stored, as the service answers them. */
function watchParts(page: Page): number[] {
  const sent: number[] = [];
  page.on("response", async (response) => {
    const { pathname } = new URL(response.url());
    const isPut = response.request().method() === "PUT" && pathname.startsWith("/data-plane/parts/");
    const isPart = isPut || (response.ok() && /^\/v1\/data\/uploads\/.*\/compose$/.test(pathname));
    const answer = isPart ? await response.json().catch(() => undefined) : undefined;
    if (answer) sent.push((answer as { number: number }).number);
  });
  return sent;
}

/** Opens another tab, in which it is looked whether the first one still sends: a script says so by `hasLooked`. */
async function openSecond({ home }: ConsoleScenario, context: BrowserContext) {
  const second = await context.newPage();
  const confirmed: string[] = [];
  second.on("request", (request) => {
    if (request.url().includes("/v1/data/uploads/")) confirmed.push(request.url());
  });
  await second.goto(`${home}/recordings`);
  await eventually(
    () => second.evaluate("globalThis.hasLooked === true"),
    (hasLooked) => hasLooked === true,
  );
  return { second, confirmed };
}

/** Checks that the only recording has the bytes of the file. */
async function checkRecording({ cloud, until }: ConsoleScenario, path: string): Promise<void> {
  const { id, size } = await until("complete");
  assert.equal(size, (await stat(path)).size);
  const { link } = await cloud().admin.call(api.recordingFiles.link, { keyOrId: id });
  assert.ok((await readFile(path)).equals(Buffer.from(await (await fetch(link)).arrayBuffer())));
}

test("a chosen file is uploaded and imported, and the second time it was here before", { skip }, async (t) => {
  const scenario = await startConsole(t);
  const { page, complaints } = await scenario.open("/recordings");
  const path = await makeFile(t);
  await upload(page, [path]);
  const link = tray(page).getByRole("link", { name: "Open the recording of large.mcap" });
  await link.waitFor();
  await checkRecording(scenario, path);
  const [recording] = await scenario.recordings();
  assert.equal(await link.getAttribute("href"), `${new URL(scenario.home).pathname}/recordings/${recording!.id}`);
  assert.equal(await page.evaluate("localStorage.getItem('downlink.uploads')"), null);
  const sent = watchParts(page);
  await upload(page, [path]);
  await tray(page).getByText("Was here before").waitFor();
  assert.equal(sent.length, 0);
  await tray(page).getByRole("button", { name: "Clear the uploads that are done" }).click();
  await tray(page).waitFor({ state: "detached" });
  assert.deepEqual(complaints, []);
  assert.equal(await sha256Of(path), (await scenario.storedObjects())[0]!.sha256);
});

test("dropped files open the dialog, which leaves out what is no recording", { skip }, async (t) => {
  const scenario = await startConsole(t);
  const { page, complaints } = await scenario.open("/recordings");
  const bytes = Buffer.from(await makeMcap({ durationSeconds: 1 })).toString("base64");
  const dropped = await page.evaluateHandle(`(() => {
    const transfer = new DataTransfer();
    const content = Uint8Array.from(atob("${bytes}"), (letter) => letter.charCodeAt(0));
    for (const [name, part] of [["dropped.mcap", content], ["notes.txt", "x"], ["none.mcap", ""]])
      transfer.items.add(new File([part], name));
    return transfer;
  })()`);
  const drag = async () => {
    await page.dispatchEvent("main", "dragover", { dataTransfer: dropped }); // as often as a pointer does
    return page.getByText("Drop recordings here").isVisible();
  };
  await eventually(drag, Boolean);
  await page.dispatchEvent("main", "drop", { dataTransfer: dropped });
  const dialog = page.getByRole("dialog", { name: "Upload files" });
  await dialog.getByText("notes.txt is left out: it is no .mcap and no .bag.").waitFor();
  await dialog.getByText("none.mcap is left out: it is empty.").waitFor();
  assert.equal(await page.getByText("Drop recordings here").count(), 0);
  assert.equal(await dialog.locator("datalist option").first().getAttribute("value"), "rover");
  await dialog.getByLabel("Device").fill("not a name");
  await dialog.getByRole("button", { name: "Upload", exact: true }).click();
  await dialog.getByText("A name may hold letters, digits").waitFor();
  await dialog.getByLabel("Device").fill("new-robot");
  await dialog.getByLabel("Session key").fill("morning");
  await dialog.getByRole("button", { name: "Upload", exact: true }).click();
  await tray(page).getByRole("link", { name: "Open the recording of dropped.mcap" }).waitFor();
  const { device, sessionId } = await scenario.until("complete");
  assert.equal(device?.name, "new-robot");
  assert.ok(sessionId);
  assert.deepEqual(complaints, []);
});

test("after a reload the file is chosen again, and no stored part is sent twice", { skip }, async (t) => {
  const scenario = await startConsole(t);
  const { page } = await scenario.open("/recordings");
  const path = await makeFile(t);
  const { size } = await stat(path);
  scenario.proxy.throttle(6_000_000);
  const sent = watchParts(page);
  await upload(page, [path]);
  await eventually(
    async () => sent.length,
    (count) => count >= 3,
  );
  page.on("dialog", (asked) => void asked.accept());
  await page.reload();
  await tray(page).getByText("%: choose the file again to go on").waitFor();
  const requestId = await page.evaluate<string>("JSON.parse(localStorage.getItem('downlink.uploads'))[0].requestId");
  const stored = (await scenario.cloud().admin.call(api.partUploads.get, { requestId })).parts;
  const partCount = Math.ceil(size / PART_BYTES);
  assert.ok(stored.length >= 3 && stored.length < partCount, String(stored.length));

  const other = join(path, "..", "other.mcap");
  await writeFile(other, await makeMcap({ durationSeconds: 1 }));
  await tray(page).locator("input[type=file]").setInputFiles(other);
  await tray(page).getByText("is not the large.mcap of which a part was sent").waitFor();

  scenario.proxy.throttle(Number.POSITIVE_INFINITY);
  const before = sent.splice(0);
  await tray(page).locator("input[type=file]").setInputFiles(path);
  await tray(page).getByRole("link", { name: "Open the recording of large.mcap" }).waitFor();
  const twice = sent.filter((number) => stored.some((one) => one.number === number));
  assert.deepEqual(twice, [], `stored before: ${before}; sent after: ${sent}`);
  assert.ok(sent.length > 0 && stored.length + sent.length <= partCount);
  await checkRecording(scenario, path);
});

test("a file that was touched is compared by its content, in another tab, and one of another content is refused", {
  skip,
}, async (t) => {
  const scenario = await startConsole(t);
  const { page, context } = await scenario.open("/recordings");
  const path = await makeFile(t);
  scenario.proxy.throttle(2_000_000);
  const sent = watchParts(page);
  await upload(page, [path]);
  await eventually(
    async () => sent.length,
    (count) => count >= 1,
  );
  await context.addInitScript(`{
    const { locks } = navigator;
    const query = locks.query.bind(locks);
    locks.query = () => query().finally(() => (globalThis.hasLooked = true));
  }`);
  const { second, confirmed } = await openSecond(scenario, context);
  await page.close();
  await second.reload();
  await tray(second).getByText("choose the file again").waitFor();
  assert.equal(confirmed.length, 1, "it was not asked for while another tab had it");
  scenario.proxy.throttle(Number.POSITIVE_INFINITY);
  const bytes = await readFile(path);
  bytes[bytes.length >> 1]! ^= 1;
  const changed = join(path, "..", "changed.mcap");
  await writeFile(changed, bytes);
  await tray(second).locator("input[type=file]").setInputFiles(changed);
  await tray(second).getByText("is not the large.mcap of which a part was sent").waitFor();
  await utimes(path, 1_700_000_000, 1_700_000_000);
  await tray(second).locator("input[type=file]").setInputFiles(path);
  await tray(second).getByRole("link", { name: "Open the recording of large.mcap" }).waitFor();
  await checkRecording(scenario, path);
});

test("also a browser without locks leaves an upload to the tab that sends it", { skip }, async (t) => {
  const scenario = await startConsole(t);
  const { page, context } = await scenario.open("/sites");
  await context.addInitScript("Object.defineProperty(navigator, 'locks', { value: undefined })");
  await page.goto(`${scenario.home}/recordings`);
  const path = await makeFile(t);
  scenario.proxy.throttle(2_000_000);
  const sent = watchParts(page);
  await upload(page, [path]);
  await eventually(
    async () => sent.length,
    (count) => count >= 1,
  );
  const listen =
    "new BroadcastChannel('downlink.uploads').onmessage = ({ data }) => (globalThis.hasLooked ||= data.isHeld)";
  await context.addInitScript(listen);
  const { second, confirmed } = await openSecond(scenario, context);
  await page.close();
  await second.reload();
  await tray(second).getByText("choose the file again").waitFor();
  assert.equal(confirmed.length, 1, "it was not asked for while another tab had it");
});

test("an upload is paused, goes on, survives a cut and a control plane that is away, and another is given up", {
  skip,
}, async (t) => {
  const scenario = await startConsole(t);
  const { page } = await scenario.open("/recordings");
  const path = await makeFile(t);
  scenario.proxy.throttle(3_000_000);
  const sent = watchParts(page);
  await upload(page, [path]);
  await eventually(
    async () => sent.length,
    (count) => count >= 1,
  );
  await tray(page).getByRole("button", { name: "Pause large.mcap" }).click();
  await tray(page).getByText("% · Paused").waitFor();
  await tray(page).getByRole("button", { name: "Go on with large.mcap" }).click();
  await tray(page).getByText("MB/s").waitFor();
  scenario.proxy.cut();
  await scenario.killCloud();
  await tray(page).getByText("Waiting for the control plane").waitFor();
  scenario.proxy.throttle(Number.POSITIVE_INFINITY);
  await scenario.restartCloud();
  await tray(page).getByRole("link", { name: "Open the recording of large.mcap" }).waitFor();
  await checkRecording(scenario, path);

  scenario.proxy.throttle(500_000);
  const another = await makeFile(t, "another.mcap");
  const bytes = await readFile(another);
  bytes[bytes.length >> 1]! ^= 1;
  await writeFile(another, bytes);
  await upload(page, [another]);
  await eventually(
    () => page.evaluate("localStorage.getItem('downlink.uploads')"),
    (kept) => kept !== null,
  );
  const requestId = await page.evaluate<string>("JSON.parse(localStorage.getItem('downlink.uploads'))[0].requestId");
  await tray(page).getByRole("button", { name: "Give up another.mcap" }).click();
  await tray(page).getByRole("button", { name: "Keep it" }).click();
  await page.locator('[aria-label="Give up another.mcap"]:focus').press("Enter");
  await tray(page).getByRole("button", { name: "Give it up" }).click();
  await tray(page).getByText("another.mcap").waitFor({ state: "detached" });
  await assert.rejects(scenario.cloud().admin.call(api.partUploads.get, { requestId }), /ended as abandoned/);
  assert.equal(await page.evaluate("localStorage.getItem('downlink.uploads')"), null);
});

test("from the first cut of the link on that the page notices, little is sent again after one", { skip }, async (t) => {
  const scenario = await startConsole(t);
  const { page } = await scenario.open("/recordings");
  const path = await makeFile(t);
  const { size } = await stat(path);
  const { proxy } = scenario;
  proxy.throttle(6_000_000);
  const before = proxy.sentBytes();
  const cuts = Array.from({ length: 8 }, (_, index) => (index + 1) * 5_000_000);
  proxy.holdAfter(before + cuts[0]!);
  await upload(page, [path]);
  for (const [index] of cuts.entries()) {
    await proxy.held();
    proxy.cut();
    proxy.holdAfter(before + (cuts[index + 1] ?? Number.POSITIVE_INFINITY));
  }
  await tray(page).getByRole("link", { name: "Open the recording of large.mcap" }).waitFor();
  const twice = proxy.sentBytes() - before - size;
  assert.ok(twice < 3 * PART_BYTES + cuts.length * 500_000, `${twice} bytes more than ${size} were sent`);
  await checkRecording(scenario, path);
});

test("a session that ends meanwhile is begun again in place, and the upload goes on; signing out forgets it", {
  skip,
}, async (t) => {
  const scenario = await startConsole(t);
  const { page, context } = await scenario.open("/recordings");
  const path = await makeFile(t);
  scenario.proxy.throttle(3_000_000);
  const sent = watchParts(page);
  await upload(page, [path]);
  await eventually(
    async () => sent.length,
    (count) => count >= 1,
  );
  await context.clearCookies();
  const dialog = page.getByRole("dialog", { name: "Sign in" });
  await dialog.getByLabel("API key").fill(scenario.cloud().adminKey);
  await tray(page).getByText("Waiting until you sign in").waitFor();
  scenario.proxy.throttle(Number.POSITIVE_INFINITY);
  await dialog.getByRole("button", { name: "Sign in", exact: true }).click();
  await tray(page).getByRole("link", { name: "Open the recording of large.mcap" }).waitFor();
  await checkRecording(scenario, path);

  scenario.proxy.throttle(1_000_000);
  const another = await makeFile(t, "another.mcap");
  const bytes = await readFile(another);
  bytes[bytes.length >> 1]! ^= 1;
  await writeFile(another, bytes);
  await upload(page, [another]);
  await eventually(
    () => page.evaluate("localStorage.getItem('downlink.uploads')"),
    (kept) => kept !== null,
  );
  await page.getByRole("button", { name: "Account" }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "Sign in to Downlink" }).waitFor();
  assert.equal(await page.evaluate("localStorage.getItem('downlink.uploads')"), null);
});

test("a key that may only read sees no way to upload", { skip }, async (t) => {
  const { browser, home, cloud } = await startConsole(t);
  const capabilities = ["recordings.list", "data.coverage.list"] as const;
  const { token } = await cloud().admin.call(api.apiKeys.create, {
    name: "reader",
    capabilities: [...capabilities],
  });
  const { page } = await openPage(browser);
  await signIn(page, new URL(home).origin, token!);
  await page.goto(`${home}/recordings`);
  await page.getByText("There is no recording yet.").waitFor();
  assert.equal(await page.getByRole("button", { name: "Upload files" }).count(), 0);
});

test("axe finds nothing in dialog and tray, in both themes, on a desk and on a phone", { skip }, async (t) => {
  const scenario = await startConsole(t);
  const path = await makeFile(t);
  for (const theme of ["light", "dark"] as const)
    for (const width of [390, 1280]) {
      const look = `${theme}, ${width} px`;
      const { page, complaints, context } = await scenario.open("/recordings", { theme, width });
      scenario.proxy.throttle(Number.POSITIVE_INFINITY);
      await page.getByRole("button", { name: "Upload files" }).first().click();
      const dialog = page.getByRole("dialog", { name: "Upload files" });
      const notes = { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("x") };
      await dialog.locator("input[type=file]").setInputFiles([notes]);
      await dialog.locator("input[type=file]").setInputFiles(path);
      await dialog.getByText("large.mcap").waitFor();
      assert.deepEqual(await findBarriers(page), [], look);
      scenario.proxy.throttle(200_000);
      await dialog.getByLabel("Device").fill("rover");
      await dialog.getByRole("button", { name: "Upload", exact: true }).click();
      await tray(page).getByRole("button", { name: "Pause large.mcap" }).click();
      assert.deepEqual(await findBarriers(page), [], look);
      await tray(page).getByRole("button", { name: "Give up large.mcap" }).click();
      assert.deepEqual(await findBarriers(page), [], look);
      assert.deepEqual(complaints, []);
      await context.close();
    }
});
