import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, test } from "node:test";
import { api } from "@downlink/protocol";
import { eventually, makeMcap, readMessages } from "@downlink/recordings/testing";
import { request } from "undici";
import { type Scenario, startScenario } from "../processes/scenario.ts";
import { type SelfHostedSite, startSelfHostedSite } from "../processes/self-hosted-site.ts";
import { startTcpProxy, type TcpProxy } from "../processes/tcp-proxy.ts";

const MINUTE_NS = 60_000_000_000n;
/** So slow, in bytes per second, that an agent sends pieces. */
const SLOW = 400_000;

/** An empty bucket or container, with the settings of a site that keeps its objects there under the prefix `downlink/`. */
export interface DistantPlace {
  readonly env: Readonly<Record<string, string>>;
  readNames(): Promise<string[]>;
}

/** A self-hosted site whose objects are in such a place, and the control plane and the agent that use it. */
export interface SiteScene {
  readonly scenario: Scenario;
  readonly siteId: string;
  readonly token: string;
  readonly dataDir: string;
  readonly env: Readonly<Record<string, string>>;
  /** All traffic to the site goes through this proxy. */
  readonly proxy: TcpProxy;
  /** The names of the site's objects below its prefix. */
  names(): Promise<string[]>;
  kill(): Promise<void>;
  /** Starts the site, also with other settings than before. */
  start(more?: Readonly<Record<string, string>>): Promise<void>;
}

/** Tests what a site promises wherever its objects are. */
export function describeSiteIn(
  { noun, kind, skip }: { readonly noun: string; readonly kind: string; readonly skip: string | undefined },
  scene: () => SiteScene,
): void {
  test(
    `a file by link is in the ${noun}, is read and exported from there, and is removed with its recording`,
    {
      skip,
    },
    () => keepsFileOfLink(scene(), kind),
  );
  test(
    "a site that is killed in the middle of a body acknowledges nothing of it, and takes the file by the same link",
    {
      skip,
    },
    () => forgetsHalfBody(scene()),
  );
  test(`an agent's upload goes on with what the ${noun} has after the site was killed in its middle`, { skip }, () =>
    goesOn(scene()),
  );
  test("a lost database of a site costs the unfinished uploads, which start over, and nothing else", { skip }, () =>
    losesRecords(scene()),
  );
}

/** Starts a control plane and its site. Everything ends after the tests of the file. */
export async function startSiteIn({ env: where, readNames }: DistantPlace): Promise<SiteScene> {
  const stack = new AsyncDisposableStack();
  after(() => stack.disposeAsync());
  const scenario = await startScenario({ after });
  const { admin } = scenario.cloud();
  const { id: siteId } = await admin.call(api.sites.create, { name: "plant", type: "self-hosted" });
  const { token } = await admin.call(api.siteTokens.create, { siteId });
  const [project] = await admin.call(api.projects.list, {});
  await admin.call(api.projects.update, { id: project!.id, primarySiteId: siteId });
  const proxy = stack.use(await startTcpProxy());
  const dataDir = join(scenario.dataDir, "..", "plant");
  const env = { DOWNLINK_PUBLIC_URL: proxy.url, ...where };
  let site: SelfHostedSite | undefined;
  stack.defer(() => site?.[Symbol.asyncDispose]());
  const scene: SiteScene = {
    ...{ scenario, siteId, token: token!, dataDir, env, proxy },
    names: async () => (await readNames()).map((name) => name.replace(/^downlink\//, "")),
    async kill() {
      proxy.leadTo(undefined);
      await site!.program.end("SIGKILL");
      proxy.cut();
    },
    async start(more = {}) {
      const settings = { ...env, ...more };
      site = await startSelfHostedSite({ controlPlane: scenario.proxy.url, token: token!, dataDir, env: settings });
      proxy.leadTo(site.url);
    },
  };
  await scene.start();
  return scene;
}

let files = 0n;

function makeFile(bytes: number): Promise<Uint8Array> {
  files += 1n;
  const startNs = 1_760_000_000_000_000_000n + files * MINUTE_NS;
  return makeMcap({ startNs, durationSeconds: 2, attachments: [{ name: "noise.bin", data: randomBytes(bytes) }] });
}

async function objectsOf(scene: SiteScene): Promise<string[]> {
  return (await scene.names()).filter((name) => /^org_\w+\/upl_/.test(name));
}

async function createLink({ scenario, siteId }: SiteScene) {
  const body = { filename: `${files}.mcap`, deviceName: "cell-7", siteId };
  const created = await eventually(
    () =>
      scenario
        .cloud()
        .admin.call(api.uploads.create, body)
        .catch(() => undefined),
    (found) => found !== undefined,
  );
  return created!;
}

async function put(target: string, body: Uint8Array | AsyncIterable<Uint8Array>): Promise<number> {
  const answer = await request(target, { method: "PUT", body: body as Uint8Array });
  await answer.body.dump();
  return answer.statusCode;
}

async function assertExported({ scenario, proxy }: SiteScene, recordingId: string, content: Uint8Array): Promise<void> {
  const { link } = await scenario.cloud().admin.call(api.exports.create, { recordingId });
  assert.ok(link.startsWith(proxy.url), link);
  const { body } = await request(link);
  assert.deepEqual(await readMessages(await body.bytes()), await readMessages(content));
}

async function endOf({ scenario }: SiteScene, requestId: string): Promise<string> {
  const query = { requestId, showCompleted: true, showQuarantined: true };
  const [ended] = await eventually(
    () => scenario.cloud().admin.call(api.pendingImports.list, query),
    ([found]) => found?.terminal === true,
  );
  assert.equal(ended!.status, "complete", ended!.error);
  return ended!.recordingId!;
}

async function keepsFileOfLink(scene: SiteScene, kind: string): Promise<void> {
  const { admin } = scene.scenario.cloud();
  const content = await makeFile(9_000_000);
  const { link, requestId } = await createLink(scene);
  assert.equal(await put(link, content), 200);
  const recordingId = await endOf(scene, requestId);
  await assertExported(scene, recordingId, content);
  assert.deepEqual([(await objectsOf(scene)).length, await scene.scenario.storedObjects()], [1, []]);
  const { process } = await admin.call(api.sites.get, { id: scene.siteId });
  assert.equal(process?.storeKind, kind);
  await admin.call(api.recordings.delete, { keyOrId: recordingId });
  await eventually(scene.names, (all) => all.every((name) => !/^org_/.test(name)));
}

async function forgetsHalfBody(scene: SiteScene): Promise<void> {
  const content = await makeFile(12_000_000);
  const { link, requestId } = await createLink(scene);
  const { promise: halfSent, resolve } = Promise.withResolvers<void>();
  async function* slowly() {
    yield content.subarray(0, 10_000_000);
    resolve();
    await new Promise(() => {}); // the rest never comes
  }
  const broken = assert.rejects(put(link, slowly()));
  await halfSent;
  await scene.kill();
  await broken;
  await scene.start();
  assert.equal(await put(link, content), 200);
  await assertExported(scene, await endOf(scene, requestId), content);
  assert.equal((await objectsOf(scene)).length, 1);
}

/** Writes a recording on the device, has it imported, and returns once some pieces of it are recorded at the site. */
async function importHalf(scene: SiteScene) {
  const { storageRoot } = scene.scenario;
  const { admin } = scene.scenario.cloud();
  const content = await makeFile(6_000_000);
  const path = `${files}.mcap`;
  await writeFile(join(storageRoot, path), content);
  const [found] = await eventually(
    () => admin.call(api.recordings.list, { path }),
    (all) => all.length === 1,
  );
  scene.proxy.throttle(SLOW);
  await admin.call(api.recordings.requestImport, { keyOrId: found!.id });
  await eventually(
    () => readPieces(scene),
    (pieces) => pieces.length > 2,
  );
  return { id: found!.id, content };
}

/** Returns the pieces that the site has recorded, each with the bucket's id of its upload. */
async function readPieces({ dataDir }: SiteScene): Promise<string[]> {
  using database = new DatabaseSync(join(dataDir, "uploads.db"), { readOnly: true, timeout: 5000 });
  return database
    .prepare("SELECT * FROM pieces")
    .all()
    .map((row) => JSON.stringify(row));
}

async function assertImported(
  scene: SiteScene,
  { id, content }: Awaited<ReturnType<typeof importHalf>>,
): Promise<void> {
  const before = (await objectsOf(scene)).length;
  scene.proxy.throttle(Number.POSITIVE_INFINITY);
  await scene.scenario.until("complete", id);
  await assertExported(scene, id, content);
  const left = await scene.names();
  assert.deepEqual(
    left.filter((name) => /^_(pieces|parts)\//.test(name)),
    [],
  );
  assert.equal((await objectsOf(scene)).length, before + 1);
}

async function goesOn(scene: SiteScene): Promise<void> {
  scene.scenario.startAgent();
  const half = await importHalf(scene);
  await scene.kill();
  const before = await readPieces(scene);
  await scene.start();
  const after = await eventually(
    () => readPieces(scene),
    (pieces) => pieces.length > before.length,
  );
  assert.deepEqual(
    before.filter((piece) => !after.includes(piece)),
    [],
  );
  await assertImported(scene, half);
}

async function losesRecords(scene: SiteScene): Promise<void> {
  const { scenario, dataDir } = scene;
  await scenario.agent().end("SIGKILL");
  scenario.startAgent(); // the former one knows a fast link, on which it sends no pieces
  const before = await objectsOf(scene);
  const half = await importHalf(scene);
  await scene.kill();
  for (const name of await readdir(dataDir))
    if (name.startsWith("uploads.db")) await rm(join(dataDir, name), { force: true });
  await scene.start();
  await assertImported(scene, half);
  const left = await objectsOf(scene);
  assert.deepEqual(
    before.filter((name) => !left.includes(name)),
    [],
  );
}
