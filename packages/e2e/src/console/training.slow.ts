import assert from "node:assert/strict";
import { test } from "node:test";
import { api } from "@downlink/protocol";
import { eventually } from "@downlink/recordings/testing";
import type { Page } from "playwright-core";
import { findBarriers } from "./testing/axe.ts";
import { whyNoBrowser } from "./testing/browser.ts";
import { uploadFile } from "./testing/failed-uploads.ts";
import { makeSensorRecording, PICTURE } from "./testing/sensor-recording.ts";
import { type ConsoleScenario, startConsole } from "./testing/start-console.ts";

const skip = whyNoBrowser();
const SECOND_NS = 1_000_000_000n;

/** Commits a dataset of two episodes: one whose topics are whole, and one in which one of them falls silent. Returns its id. */
async function commitDataset(scenario: ConsoleScenario): Promise<string> {
  await uploadFile(scenario, "sensors.mcap", await makeSensorRecording());
  await scenario.until("complete");
  const [{ id: recordingId, start, projectId } = assert.fail()] = await scenario.recordings();
  const { admin } = scenario.cloud();
  const asked = [0n, 3n].map((second) => ({
    recordings: [recordingId],
    startTime: start + second * SECOND_NS,
    endTime: start + (second + 4n) * SECOND_NS,
    metadata: { task: "pick" },
  }));
  const { episodes } = await admin.call(api.episodes.getOrCreate, { projectId, episodes: asked });
  const episodeIds = episodes.map(({ id }) => id);
  const { id } = await admin.call(api.datasets.create, { projectId, name: "picks", episodeIds });
  await admin.call(api.datasetVersions.commit, { id });
  return id;
}

const textOf = (page: Page) => page.getByRole("textbox", { name: "Mapping", exact: true });

async function pixelOf(page: Page, name: string): Promise<number[]> {
  const read = (canvas: unknown) => [
    ...(canvas as { getContext(of: "2d"): { getImageData(...of: number[]): { data: Uint8ClampedArray } } })
      .getContext("2d")
      .getImageData(0, 0, 1, 1).data,
  ];
  return page.getByRole("img", { name }).evaluate(read);
}

test("a mapping is drafted, tried, kept and built, its files are fetched, and the set is deleted", {
  skip,
  timeout: 240_000,
}, async (t) => {
  const scenario = await startConsole(t);
  const id = await commitDataset(scenario);
  const { page, complaints } = await scenario.open(`/datasets/${id}`);
  await page.getByRole("link", { name: "Training data" }).click();
  await eventually(
    () => textOf(page).inputValue(),
    (text) => text.includes("/ros2/motion"),
  );
  assert.match(page.url(), /\/training\?version=1$/);
  await page.getByText("/json/fix has too few messages for rows").waitFor();

  await refuseWrong(page);
  await tryTopics(page);
  await tryMapping(page);
  await build(page);
  const [set = assert.fail()] = (await scenario.cloud().admin.call(api.trainingSets.list, { datasetId: id }))
    .trainingSets;
  assert.deepEqual([set.state, set.expiresAt - set.createdAt], ["ready", 7n * 86_400n * SECOND_NS]);
  await fetchOne(page);
  assert.deepEqual(await findBarriers(page), []);
  await page.getByRole("button", { name: "Close" }).click();
  await lookEverywhere(scenario, id);
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete the set" }).click();
  await page.getByText("No training set was built yet.").waitFor();
  const { trainingSets } = await scenario.cloud().admin.call(api.trainingSets.list, { datasetId: id });
  assert.deepEqual([trainingSets, complaints], [[], []]);
});

/** Types a mapping with a fault, and a text that is no JSON; neither can be tried, and the draft comes back. */
async function refuseWrong(page: Page): Promise<void> {
  const wrong = { fps: 10, features: { a: { dtype: "int64", parts: [{ topic: "/a", align: "interpolate" }] } } };
  await textOf(page).fill(JSON.stringify(wrong));
  await page
    .getByText("mapping.features.a.parts.0.align must be hold or nearest, unless the dtype is a float")
    .waitFor();
  assert.ok(await page.getByRole("button", { name: "Try" }).isDisabled());
  assert.ok(await page.getByRole("button", { name: "Build" }).isDisabled());
  await textOf(page).fill('{ "fps": 10, }');
  await page.getByText("This is no JSON:").waitFor();
  await page.getByRole("button", { name: "Draft again" }).click();
  await page.getByText("About the draft").waitFor();
}

/** A mapping of topics alone is tried as the tables that it becomes. */
async function tryTopics(page: Page): Promise<void> {
  await textOf(page).fill(JSON.stringify({ topics: ["/ros2/motion", "/json/fix"] }));
  await page.getByRole("button", { name: "Try" }).click();
  await page.getByText(/^2 episodes tried: \d+ messages\.$/).waitFor();
  const motion = page.getByRole("row", { name: "/ros2/motion a/msg/Motion" });
  await motion.getByText("2 columns", { exact: true }).click();
  await motion.getByText("y float64", { exact: true }).waitFor();
  assert.deepEqual(await findBarriers(page), []);
}

async function tryMapping(page: Page): Promise<void> {
  const mapping = {
    fps: 10,
    maxGapMs: 250,
    features: {
      state: { dtype: "float32", parts: [{ topic: "/ros2/motion" }] },
      "observation.images.front": { dtype: "image", parts: [{ topic: "/ros2/camera" }] },
    },
  };
  await textOf(page).fill(JSON.stringify(mapping));
  await page.getByRole("button", { name: "Try" }).click();
  await page.getByText("2 episodes tried: 41 rows, task “pick”.").waitFor();
  await page.getByText("left out: 1 of its 1 parts have fewer than 30 rows").waitFor();
  await page.getByText("float32, 2", { exact: true }).waitFor();
  await page.getByText(`image, ${PICTURE.height} × ${PICTURE.width} × 3`).waitFor();
  assert.equal(await page.getByRole("region", { name: "First rows" }).getByRole("row").count(), 6);
  await eventually(
    () => pixelOf(page, "observation.images.front, row 1"),
    (pixel) => pixel.join() === [...PICTURE.color, 255].join(),
  );
  assert.deepEqual(await findBarriers(page), []);
}

async function build(page: Page): Promise<void> {
  assert.equal(await page.getByLabel("Keep the mapping as").inputValue(), "picks");
  await page.getByLabel("Days for which it is kept").fill("7");
  await page.getByRole("button", { name: "Build" }).click();
  await page.getByText("A set of version 1 is being built.").waitFor();
  await page.getByLabel("Kept mapping").getByText("picks, revision 1").waitFor({ state: "attached" });
  await page.locator(".set-state").filter({ hasText: "ready" }).waitFor({ timeout: 60_000 });
  await page.getByText("version 1, mapping picks, revision 1").waitFor();
  await page.getByText(/^dl training-set pull ts_\w+ -o picks-1-\w{6}$/).waitFor();
}

async function fetchOne(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Files…" }).click();
  const link = page.getByRole("dialog").getByRole("link", { name: "meta/info.json" });
  const all = page.getByRole("button", { name: "Download all as one .tar" });
  const [archive] = await Promise.all([page.waitForEvent("download"), all.click()]);
  assert.match(archive.suggestedFilename(), /^picks-1-\w{6}\.tar$/);
  const [download] = await Promise.all([page.waitForEvent("download"), link.click()]);
  const chunks: Buffer[] = [];
  for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
  const info = JSON.parse(Buffer.concat(chunks).toString());
  assert.deepEqual([info.fps, info.features.state.shape], [10, [2]]);
}

/** The page with a trial and a set, in both themes, on a desk and on a phone: axe finds nothing, and only parts of it scroll sideways. */
async function lookEverywhere({ open }: ConsoleScenario, id: string): Promise<void> {
  for (const theme of ["light", "dark"] as const)
    for (const width of [390, 1280]) {
      const { page, complaints, context, settled } = await open(`/datasets/${id}/training`, { theme, width });
      await page.getByRole("button", { name: "Try" }).click();
      await page.getByText("2 episodes tried").waitFor();
      await settled();
      assert.deepEqual(await findBarriers(page), [], `${theme}, ${width} px`);
      const hidden = await page
        .locator("#page")
        .evaluate(
          ({ scrollWidth, clientWidth }: { scrollWidth: number; clientWidth: number }) => scrollWidth - clientWidth,
        );
      assert.equal(hidden, 0, `${width} px`);
      assert.deepEqual(complaints, []);
      await context.close();
    }
}
