import assert from "node:assert/strict";
import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { displayWidth } from "@downlink/terminal/display-width";
import { FakeCloud } from "../testing/fake-cloud.ts";
import { makeDevice, settingsFor, startDaemon } from "../testing/run-daemon.ts";
import { type ListOptions, listFiles, renderFiles } from "./ls.ts";

const paths = [
  "old.mcap",
  "day1/a very long name of a recording that somebody made in the morning, and renamed after that.mcap",
  "day2/录音录音录音录音录音录音录音录音录音录音录音录音录音录音录音录音.bag",
  "day2/new.bag",
];

test("files are listed newest first, as many as wanted, those that match, and fit the screen with both ends of their names", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  for (const [index, path] of paths.entries()) {
    mkdirSync(dirname(join(device.root, path)), { recursive: true });
    writeFileSync(join(device.root, path), "no recording");
    utimesSync(join(device.root, path), 1_700_000_000 + index, 1_700_000_000 + index);
  }
  const settings = settingsFor(device, cloud);
  await using agent = startDaemon(settings);
  await agent.until("all are known", ({ files }) => files.damaged === paths.length);
  const list = (options: ListOptions) => listFiles(settings, options)!;
  const listed = (options: ListOptions) => list(options).files.map(({ path }) => path);
  assert.deepEqual(listed({}), paths.toReversed());
  assert.deepEqual([listed({ limit: "1" }), list({ limit: "1" }).left], [["day2/new.bag"], 3]);
  assert.deepEqual(listed({ globs: ["old*"] }), ["old.mcap"]);
  assert.deepEqual(listed({ globs: ["*.BAG"], state: "damaged", limit: "1" }), ["day2/new.bag"]);
  assert.deepEqual(listed({ state: "reported,damaged", limit: "1" }), ["day2/new.bag"]);
  assert.deepEqual(listed({ state: "reported,failed" }), []);
  assert.throws(() => list({ state: "damaged,flying" }), /^InvalidSettingError: flying is no state/);
  assert.deepEqual(listed({ globs: ["day2/*"] }), paths.slice(2).toReversed());
  assert.deepEqual(listed({ globs: [`${device.root}/*.mcap`] }), ["old.mcap"]);
  assert.throws(() => list({ limit: "0" }), /--limit 0/);
  const layout = { nowMs: 0, isColored: false };
  for (const columns of [40, 60, 80, 120, 200]) {
    const text = renderFiles(list({ limit: "3" }), { ...layout, columns });
    for (const line of text.split("\n")) assert.ok(displayWidth(line) <= columns, `${columns}: ${line}`);
    if (columns <= 80) assert.match(text, /^day1\/a.*….*\.mcap +damaged +12 B/m);
    if (columns <= 80) assert.match(text, /^day2\/录.*….*\.bag +damaged/m);
    assert.match(text, /1 more, older/);
    assert.equal(text.includes("agent explain FILE"), columns < 150);
  }
  const whole = renderFiles(list({}), { ...layout, columns: Number.POSITIVE_INFINITY });
  for (const path of paths) assert.ok(whole.includes(path));
});
