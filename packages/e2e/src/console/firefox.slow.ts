// Another browser opens every page: what one of them allows and the other refuses shows here.
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { api } from "@downlink/protocol";
import { eventually, makeMcap } from "@downlink/recordings/testing";
import { startScenario } from "../processes/scenario.ts";
import { allPages } from "./testing/all-pages.ts";
import { startFirefox, whyNoFirefox } from "./testing/firefox.ts";

const WIDTHS = [1280, 390];
/** An expression for the text of the page, which is empty until the page has something to show. */
const SHOWN = "document.querySelector('main')?.innerText.trim() ?? ''";
const IS_TOO_WIDE = "document.documentElement.scrollWidth > document.documentElement.clientWidth";

test("Firefox opens every page, wide and narrow, without an error or a horizontal scroll", {
  skip: whyNoFirefox(),
}, async (t) => {
  const scenario = await startScenario(t);
  await writeFile(
    join(scenario.storageRoot, "run-1.mcap"),
    await makeMcap({ startNs: 1_760_000_000_000_000_000n, durationSeconds: 1 }),
  );
  scenario.startAgent();
  await scenario.requestOnly();
  const { id } = await scenario.until("complete");
  const { admin, adminKey } = scenario.cloud();
  const { url } = scenario.agentOptions;
  const [project] = await admin.call(api.projects.list, {});
  await using firefox = await startFirefox();
  await firefox.open(url);
  const body = JSON.stringify({ apiKey: adminKey });
  const headers = JSON.stringify({ "content-type": "application/json" });
  const status = `fetch("/v1/session", { method: "POST", headers: ${headers}, body: ${JSON.stringify(body)} }).then(({ status }) => status)`;
  assert.match(await firefox.evaluate(status), /^20\d$/);

  const paths = [...allPages(project!.id).map(([, path]) => path), `/p/${project!.id}/recordings/${id}`];
  for (const width of WIDTHS) {
    await firefox.setWidth(width);
    for (const path of paths) {
      await firefox.open(url + path);
      await eventually(
        () => firefox.evaluate(SHOWN),
        (text) => text !== "",
      );
      assert.equal(await firefox.evaluate(IS_TOO_WIDE), "false", `${path} at ${width} px`);
    }
  }
  await firefox.open(`${url}/p/${project!.id}/recordings`);
  await eventually(
    () => firefox.evaluate("document.querySelector('main').textContent"),
    (text) => text.includes("run-1.mcap"),
  );
  assert.deepEqual(firefox.complaints, []);
});
