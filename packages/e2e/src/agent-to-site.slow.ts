import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { access, mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import { storeSettings } from "@downlink/cloud/testing";
import { api } from "@downlink/protocol";
import { eventually, makeMcap, readMessages } from "@downlink/recordings/testing";
import { request } from "undici";
import { runAgentCommand, startEdgeAgent } from "./processes/edge-agent.ts";
import { startProgram } from "./processes/program.ts";
import { startScenario } from "./processes/scenario.ts";
import { type SelfHostedSite, startSelfHostedSite } from "./processes/self-hosted-site.ts";
import { startTcpProxy, type TcpProxy } from "./processes/tcp-proxy.ts";

const MINUTE_NS = 60_000_000_000n;
/** The most bytes that calls without a byte of a recording send to the control plane: much less than any recording here. */
const CALL_BYTES = 400_000;
const FILE_BYTES = 3_000_000;
const scenario = await startScenario({ after });
const [north, south] = [await startPlant("north"), await startPlant("south")];
const [project] = await scenario.cloud().admin.call(api.projects.list, {});
scenario.startAgent();

interface Plant {
  readonly siteId: string;
  /** All traffic to the site goes through this proxy. */
  readonly proxy: TcpProxy;
  kill(): Promise<void>;
  start(): Promise<void>;
}

async function startPlant(name: string): Promise<Plant> {
  const { admin } = scenario.cloud();
  const { id: siteId } = await admin.call(api.sites.create, { name, type: "self-hosted" });
  const { token } = await admin.call(api.siteTokens.create, { siteId });
  const proxy = await startTcpProxy();
  after(() => proxy[Symbol.asyncDispose]());
  let site: SelfHostedSite | undefined;
  const start = async () => {
    const dataDir = join(scenario.dataDir, "..", name);
    const env = { DOWNLINK_PUBLIC_URL: proxy.url };
    site = await startSelfHostedSite({ controlPlane: scenario.proxy.url, token: token!, dataDir, env });
    proxy.leadTo(site.url);
  };
  after(() => site?.[Symbol.asyncDispose]());
  await start();
  return {
    ...{ siteId, proxy, start },
    async kill() {
      proxy.leadTo(undefined);
      await site?.program.end("SIGKILL");
    },
  };
}

let files = 0n;

/** Writes a recording that hardly compresses, and waits until the control plane knows it. */
async function addFile(storageRoot = scenario.storageRoot, bytes = FILE_BYTES) {
  files += 1n;
  const path = `${files}.mcap`;
  const attachments = [{ name: "noise.bin", data: randomBytes(bytes) }];
  const startNs = 1_760_000_000_000_000_000n + files * MINUTE_NS;
  const content = await makeMcap({ startNs, durationSeconds: 2, attachments });
  await writeFile(join(storageRoot, path), content);
  const [found] = await eventually(
    () => scenario.cloud().admin.call(api.recordings.list, { path }),
    (all) => all.length === 1,
  );
  return { id: found!.id, path: join(storageRoot, path), content };
}

type Added = Awaited<ReturnType<typeof addFile>>;

async function importIt({ id }: Added): Promise<void> {
  await scenario.cloud().admin.call(api.recordings.requestImport, { keyOrId: id });
}

/** Waits until the recording is imported, and compares what is exported from its site with what the device has. */
async function assertAt({ id, content }: Added, proxy: TcpProxy): Promise<void> {
  await scenario.until("complete", id);
  const { link } = await scenario.cloud().admin.call(api.exports.create, { recordingId: id });
  assert.ok(link.startsWith(proxy.url), link);
  const { body } = await request(link);
  assert.deepEqual(await readMessages(await body.bytes()), await readMessages(content));
}

async function usePrimarySite(primarySiteId: string | null, id = project!.id): Promise<void> {
  await scenario.cloud().admin.call(api.projects.update, { id, primarySiteId });
}

const status = () => runAgentCommand(scenario.agentOptions, "status");

test("the files of two projects go to their sites, and no byte of them passes the control plane", async (t) => {
  const { admin } = scenario.cloud();
  await usePrimarySite(north.siteId);
  const { id: otherId } = await admin.call(api.projects.create, { name: "other" });
  await usePrimarySite(south.siteId, otherId);
  const { id: deviceId } = await admin.call(api.devices.create, { name: "digger", projectId: otherId });
  const { token } = await admin.call(api.deviceTokens.create, { deviceId });
  const otherRoot = join(scenario.dataDir, "..", "digger");
  const stateDir = join(scenario.dataDir, "..", "digger-state");
  await mkdir(otherRoot);
  const other = startEdgeAgent({ url: scenario.proxy.url, token: token!, storageRoot: otherRoot, stateDir });
  t.after(() => other.end("SIGTERM"));
  const [one, two] = [await addFile(), await addFile(otherRoot)];
  const before = scenario.proxy.sentBytes();
  const atSouth = south.proxy.sentBytes();
  await importIt(one);
  await assertAt(one, north.proxy);
  assert.ok(south.proxy.sentBytes() - atSouth < CALL_BYTES, "nothing of the first file went to the second site");
  await importIt(two);
  await assertAt(two, south.proxy);
  const carried = scenario.proxy.sentBytes() - before;
  assert.ok(carried < CALL_BYTES, `the control plane got ${carried} bytes`);
  assert.deepEqual(await scenario.storedObjects(), []);
});

test("an upload to a site goes on after the agent, the site and the control plane were killed in its middle", async (t) => {
  await usePrimarySite(north.siteId);
  const added = await addFile(scenario.storageRoot, 6_000_000);
  north.proxy.throttle(1_500_000); // slow enough for pieces
  const untilMore = async (bytes: number) => {
    const from = north.proxy.sentBytes();
    await eventually(
      async () => north.proxy.sentBytes() - from,
      (more) => more > bytes,
    );
  };
  const before = north.proxy.sentBytes();
  await importIt(added);
  await untilMore(1_000_000);
  await scenario.agent().end("SIGKILL");
  scenario.startAgent();
  await untilMore(1_000_000);
  await north.kill();
  await north.start();
  await untilMore(1_000_000);
  await scenario.killCloud();
  await untilMore(500_000); // the site needs no control plane to take a file
  await scenario.restartCloud();
  north.proxy.cut();
  north.proxy.throttle(Number.POSITIVE_INFINITY);
  await assertAt(added, north.proxy);
  t.diagnostic(`${north.proxy.sentBytes() - before} bytes for a file of ${added.content.byteLength}`);
});

test("files for a site that is down wait and say so, others are sent, and a request keeps its site", async () => {
  await usePrimarySite(north.siteId);
  const [waits, goes] = [await addFile(), await addFile()];
  north.proxy.holdAfter(north.proxy.sentBytes() + 500_000);
  await importIt(waits);
  await north.proxy.held();
  await north.kill();
  north.proxy.cut();
  north.proxy.holdAfter(Number.POSITIVE_INFINITY);
  const { output } = await eventually(status, (shown) =>
    shown.output.includes("A self-hosted site that takes uploads cannot be reached"),
  );
  assert.match(output, /the site "north" at http:/);
  await usePrimarySite(null);
  await importIt(goes);
  await scenario.until("complete", goes.id);
  assert.equal((await scenario.storedObjects()).length, 1);
  await north.start();
  await assertAt(waits, north.proxy);
  const { output: later } = await eventually(status, ({ code }) => code === 0);
  assert.doesNotMatch(later, /cannot be reached/);
});

test("a device keeps what only a site has and says why, and deletes it once an admin lets the site prove that", async () => {
  await usePrimarySite(north.siteId);
  const added = await addFile();
  await importIt(added);
  await assertAt(added, north.proxy);
  const { admin } = scenario.cloud();
  await admin.call(api.devices.update, { nameOrId: scenario.deviceId, autoDeleteAfterImport: true });
  await eventually(status, ({ output }) => output.includes('"north", which may not prove deletions'));
  await access(added.path);
  await proveDeletions("north");
  await scenario.agent().end("SIGTERM"); // the next one asks at once
  scenario.startAgent();
  await eventually(
    () => readdir(scenario.storageRoot),
    (names) => !names.some((name) => name.endsWith(".mcap")),
  );
  await assertAt(added, north.proxy);
});

async function proveDeletions(name: string): Promise<void> {
  const args = ["admin", "site", "prove-deletions", name, "on"];
  const { dataDir, databaseUrl } = scenario;
  const env = { DOWNLINK_DATA_DIR: dataDir, DATABASE_URL: databaseUrl!, ...storeSettings(dataDir) };
  await using program = startProgram({ script: "cloud/src/main.ts", args, env });
  assert.equal(await program.ended, 0, program.output());
}
