import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { api, type Recording } from "@downlink/protocol";
import { type ControlPlane, startControlPlane } from "../processes/control-plane.ts";
import { startEdgeAgent } from "../processes/edge-agent.ts";
import { readDemoArguments } from "./demo-arguments.ts";
import { DemoError } from "./demo-error.ts";
import { createDriveTopics } from "./drive-topics.ts";
import { exportSlice } from "./export-slice.ts";
import { furnish } from "./furnish.ts";
import { importEverything } from "./import-everything.ts";
import { drawCoverage, printFiles } from "./print-files.ts";
import { writeRecordings } from "./recordings.ts";
import { say, sayStep } from "./say.ts";
import { showSite } from "./show-site.ts";
import { registerWebhook, sendsToThisMachine, showDeliveries } from "./show-webhook.ts";
import { awaitStart, waitWhileRunning } from "./wait-for.ts";
import { waitForFiles } from "./wait-for-files.ts";

const { keep: isKept, sites: showsSite, webhook, files } = readDemoArguments(process.argv.slice(2));
const startedMs = performance.now();

const folder = await mkdtemp(join(tmpdir(), "downlink-demo-"));
const storageRoot = join(folder, "robot");
/** Everything was recorded before the minute in which the demo began. */
const endNs = BigInt(Math.floor(Date.now() / 60_000)) * 60_000_000_000n;
const topics = createDriveTopics();
try {
  await run();
} catch (error) {
  if (!(error instanceof DemoError)) throw error;
  process.stderr.write(`demo: ${error.message}\n`);
  process.exitCode = 1;
} finally {
  await rm(folder, { recursive: true });
}

async function run(): Promise<void> {
  sayStep("Starting the control plane, with a Postgres of its own");
  const { DOWNLINK_VIEWERS: viewers } = process.env;
  const env = { ...(webhook !== undefined && sendsToThisMachine), ...(viewers && { DOWNLINK_VIEWERS: viewers }) };
  const starting = startControlPlane({ dataDir: join(folder, "cloud"), env });
  await using cloud = await awaitStart("the control plane", starting);
  say(`serves at ${cloud.url}`);
  const webhookId = webhook === undefined ? undefined : await registerWebhook(cloud.admin, webhook);

  sayStep('A robot: the device "rover-1" with a token, and recordings in its folder');
  const device = await cloud.admin.call(api.devices.create, { name: "rover-1" });
  const { token } = await cloud.admin.call(api.deviceTokens.create, { deviceId: device.id });
  const written = await writeRecordings({ storageRoot, files, topics, endNs });
  say(`${written.length} files in ${storageRoot}`);

  sayStep("Starting the agent, a second process that watches this folder");
  await using agent = startEdgeAgent({ url: cloud.url, token: token!, storageRoot, stateDir: join(folder, "agent") });
  const waitFor = waitWhileRunning({ "the agent": agent, "the control plane": cloud.program });
  const found = await waitForFiles(cloud.admin, waitFor, written.length);
  await printFiles(cloud.admin, found);

  sayStep("Coverage: when is there data? (still on the robot)");
  await drawCoverage(cloud.admin, device.id);

  sayStep("Asking for every recording");
  await importEverything(cloud.admin, waitFor, found.recordings);
  await printFiles(cloud.admin, await waitForFiles(cloud.admin, waitFor, written.length));

  sayStep("Exporting two seconds of two topics");
  await exportSlice(cloud.admin, written[0]!);

  if (showsSite) await showSite(cloud, folder, { topics, startNs: endNs - 60_000_000_000n });
  if (webhookId !== undefined) await showDeliveries(cloud.admin, waitFor, webhookId);

  sayStep(`Done in ${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
  if (isKept) await keep(cloud, found.recordings[0]!);
  else printWhatNext();
}

async function keep(cloud: ControlPlane, recording: Recording): Promise<void> {
  const { url, adminKey } = cloud;
  sayStep("A fleet for the console");
  await furnish(cloud, { projectId: recording.projectId, topics, endNs });
  say(`The console: ${url}`);
  say(`  sign in with the API key ${adminKey}`);
  say(`It stays up until Ctrl-C. The robot's folder is ${storageRoot}: put a recording there.`);
  say(`  export KEY=${adminKey}`);
  say(`  curl -H "Authorization: Bearer $KEY" ${url}/v1/recordings`);
  say(`  the interface: ${url}/docs`);
  // A supervisor may signal twice, and the second one must not end this before all is stopped and removed.
  await new Promise<void>((resolve) => process.on("SIGINT", resolve).on("SIGTERM", resolve));
}

function printWhatNext(): void {
  say("What to try next:");
  say(
    "  npm run demo -- --keep                  the same with a fleet, and it stays up: console, key and folder are printed",
  );
  say("  npm run demo -- --sites                 with a self-hosted site beside the control plane");
  say("  npm run demo -- path/to/*.mcap *.bag    with your own recordings");
  say("  npm start                               a control plane that keeps its data in ./.data");
}
