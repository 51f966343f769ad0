import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { eventually, makeMcap } from "@downlink/recordings/testing";
import type { Browser } from "playwright-core";
import { type Scenario, startScenario } from "../../processes/scenario.ts";
import { openPage, signIn, startBrowser, type Watched } from "./browser.ts";

export interface ConsoleScenario extends Scenario {
  readonly browser: Browser;
  /** The address of the pages of its only project. */
  readonly home: string;
  /** Opens a page of the project in a tab of its own, signed in. */
  open(path: string, look?: Parameters<typeof openPage>[1]): Promise<Watched>;
}

interface Options {
  /** The files in the robot's folder, and how many seconds each lasts. */
  readonly files?: Readonly<Record<string, number>>;
  readonly cloudEnv?: Readonly<Record<string, string>>;
}

const MINUTE_NS = 60_000_000_000n;
const START_NS = 1_760_000_000_000_000_000n;

/** A control plane, a robot whose agent has reported its files, and a browser, all real, closed with the test. */
export async function startConsole(
  t: { after(close: () => Promise<unknown>): void },
  { files = {}, cloudEnv = {} }: Options = {},
): Promise<ConsoleScenario> {
  const scenario = await startScenario(t, { cloudEnv });
  const browser = await startBrowser();
  t.after(() => browser.close());
  for (const [index, [name, durationSeconds]] of Object.entries(files).entries())
    await writeFile(
      join(scenario.storageRoot, name),
      await makeMcap({ startNs: START_NS + BigInt(index) * MINUTE_NS, durationSeconds }),
    );
  if (Object.keys(files).length > 0) scenario.startAgent();
  await eventually(scenario.recordings, (found) => found.length === Object.keys(files).length);
  const { adminKey } = scenario.cloud();
  const { url } = scenario.agentOptions;
  const me = await fetch(`${url}/v1/me`, { headers: { authorization: `Bearer ${adminKey}` } });
  const { projects } = (await me.json()) as { projects: { id: string }[] };
  const home = `${url}/p/${projects[0]!.id}`;
  return {
    ...scenario,
    browser,
    home,
    async open(path, look) {
      const watched = await openPage(browser, look);
      await signIn(watched.page, url, adminKey);
      await watched.page.goto(`${home}${path}`);
      return watched;
    },
  };
}
