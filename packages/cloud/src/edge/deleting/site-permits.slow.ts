import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { api, type CallInput } from "@downlink/protocol";
import { eventually, makeMcap } from "@downlink/recordings/testing";
import { setProof } from "../../site/site-work/proof-command.ts";
import {
  readFindings,
  sayHello,
  siteHello,
  startAgain,
  startTestSite,
  type TestSite,
} from "../../site/site-work/testing/test-site.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { sayHello as greetAgain, recordingItem, sha256, startAgent, type TestAgent } from "../../testing/test-agent.ts";
import { createRunningClock } from "../../testing/test-clock.ts";

const SECOND = 1_000_000_000n;
const DAY = 86_400n * SECOND;
const clock = createRunningClock();
const cloud = await startCloud({ after }, { clock });
const { admin, deps } = cloud;
const { prisma } = deps.db;

type Answer = Partial<CallInput<typeof api.site.report>>;

let seed = 0;

/** A device whose only recording is imported at a site of its project, and is to be deleted for that. */
async function importAtSite() {
  seed += 1;
  const { id: projectId } = await admin.call(api.projects.create, { name: `project-${seed}` });
  const site = await startTestSite(cloud, `plant-${seed}`);
  await admin.call(api.projects.update, { id: projectId, primarySiteId: site.siteId });
  const agent = await startAgent(cloud, `robot-${seed}`, projectId);
  await admin.call(api.devices.update, { nameOrId: agent.deviceId, autoDeleteAfterImport: true });
  const bytes = await makeMcap({ seed });
  const item = recordingItem({ size: bytes.length });
  await agent.report([item]);
  const [recording] = await admin.call(api.recordings.list, { deviceId: agent.deviceId });
  const { requestId, key } = await deliver({ agent, site }, { recordingId: recording!.id, bytes });
  for (const piece of await readFindings(deps, { requestId, attempt: 1, bytes }))
    await site.call(api.site.findings, piece);
  const { importStatus } = await admin.call(api.recordings.get, { keyOrId: recording!.id });
  assert.equal(importStatus, "complete");
  const file = { versionId: item.versionId, sha256: sha256(bytes) };
  return { agent, site, key, size: bytes.length, file, recordingId: recording!.id };
}

interface Delivery {
  readonly recordingId: string;
  readonly bytes: Uint8Array;
}

async function deliver({ agent, site }: { agent: TestAgent; site: TestSite }, { recordingId, bytes }: Delivery) {
  await admin.call(api.recordings.requestImport, { keyOrId: recordingId });
  const { work } = await agent.call(api.edge.work, {});
  const { requestId, versionId } = work.imports[0]!;
  const version = { requestId, versionId, size: bytes.length, modifiedAt: clock.nowNs() };
  const { uploadId } = await agent.call(api.edge.openUpload, { ...version, takesSites: true });
  const key = `${site.hello.orgId}/${uploadId}`;
  await site.report({ stored: [{ requestId, key, size: bytes.length, sha256: sha256(bytes) }] });
  await site.report({ begun: [{ requestId, attempt: 1 }] });
  return { requestId, key };
}

type Imported = Awaited<ReturnType<typeof importAtSite>>;

/** Asks for a permit while the site answers what it is asked by `answer`. */
async function ask({ agent, file, site }: Imported, answer?: (key: string) => Answer | Promise<Answer>, by = site) {
  const stopped = new AbortController();
  const answering = answerQuestions(site, { answer, by, signal: stopped.signal });
  const { answers } = await agent.call(api.edge.askPermits, { items: [{ ...file, reason: "imported" }] });
  stopped.abort();
  await answering;
  return answers[0]!;
}

interface Answering {
  readonly answer: ((key: string) => Answer | Promise<Answer>) | undefined;
  readonly by: TestSite;
  readonly signal: AbortSignal;
}

async function answerQuestions(site: TestSite, { answer, by, signal }: Answering): Promise<void> {
  while (answer && !signal.aborted) {
    const { confirmations } = await site.call(api.site.work, {});
    for (const key of confirmations) await by.report(await answer(key));
    await delay(50);
  }
}

function codeOf(answer: Awaited<ReturnType<typeof ask>>): string {
  return answer.answer === "granted" ? "granted" : answer.code;
}

const textOf = (answer: Awaited<ReturnType<typeof ask>>) => (answer.answer === "granted" ? "" : answer.text);
const proves = ({ site }: Imported, isOn = true) => setProof(deps, site.siteId, isOn);

test("a site proves no deletion until an admin allows it, and then only what it has at that moment", async () => {
  const imported = await importAtSite();
  const { key, size } = imported;
  const confirm = () => ({ confirmed: [{ key, size }] });
  const refused = await ask(imported, confirm);
  assert.equal(codeOf(refused), "SafetyPeriod");
  assert.match(textOf(refused), /^it lies at the self-hosted site "plant-\d+", which may not prove deletions/);
  await proves(imported);
  assert.equal(codeOf(await ask(imported, () => ({ missing: [key] }))), "ImportNotComplete");
  assert.equal(codeOf(await ask(imported, confirm)), "granted");
});

test("a site that is silent, or has something else under that key, proves nothing", async () => {
  const imported = await importAtSite();
  const { key, size } = imported;
  await proves(imported);
  await imported.site.report({ confirmed: [{ key, size }] }); // the site was not asked
  const silent = await ask(imported);
  assert.equal(codeOf(silent), "ImportNotComplete");
  assert.match(textOf(silent), /did not answer$/);
  const lie = () => ({ confirmed: [{ key, size: size + 1 }], missing: [key] });
  assert.equal(codeOf(await ask(imported, lie)), "ImportNotComplete");
  await prisma.recording.updateMany({ where: { siteObjectKey: key }, data: { sizeBytes: BigInt(size + 1) } });
  assert.equal(codeOf(await ask(imported, () => ({ confirmed: [{ key, size }] }))), "ImportNotComplete");
});

test("another site's word for an object counts nothing", async () => {
  const imported = await importAtSite();
  const { key, size } = imported;
  await proves(imported);
  const stranger = await startTestSite(cloud, "stranger");
  await setProof(deps, stranger.siteId, true);
  const answer = async () => {
    await imported.site.report({ missing: [key] });
    return { confirmed: [{ key, size }] };
  };
  assert.equal(codeOf(await ask(imported, answer, stranger)), "ImportNotComplete");
});

test("a hash that the site computed counts only where it is that of the file on the device", async () => {
  const imported = await importAtSite();
  const { key, size, file } = imported;
  await proves(imported);
  const other = { ...imported, file: { ...file, sha256: sha256("other bytes") } };
  assert.equal(codeOf(await ask(other, () => ({ confirmed: [{ key, size }] }))), "HashDiffers");
});

test("a permit ends with the setting: the next answer refuses, and the copy on the device counts again", async () => {
  const imported = await importAtSite();
  const { key, size, file, agent } = imported;
  const confirm = () => ({ confirmed: [{ key, size }] });
  await proves(imported);
  assert.equal(codeOf(await ask(imported, confirm)), "granted");
  await proves(imported, false);
  assert.equal(codeOf(await ask(imported, confirm)), "SafetyPeriod");
  const { permitId } = await prisma.edgeFile.findFirstOrThrow({
    where: { versionId: file.versionId, agent: { deviceId: agent.deviceId } },
  });
  assert.equal(permitId, null);
  const off = async () => {
    await proves(imported, false);
    return confirm();
  };
  await proves(imported);
  assert.equal(codeOf(await ask(imported, off)), "SafetyPeriod", "also when it is switched off while the site answers");
});

test("a process that takes a site over proves nothing for a day; one that goes on with the same folder does at once", async () => {
  const imported = await importAtSite();
  const { key, size, site } = imported;
  const confirm = () => ({ confirmed: [{ key, size }] });
  await proves(imported);
  const { siteId } = site;
  const { leaseInstanceId } = await prisma.siteProcess.findUniqueOrThrow({ where: { siteId } });
  const store = await startAgain(deps, siteId);
  const restarted = await sayHello(cloud, site, siteHello({ formerInstanceIds: [leaseInstanceId], store }));
  await endRelisting(restarted, imported);
  assert.equal(codeOf(await ask({ ...imported, site: restarted }, confirm)), "granted");
  clock.aheadNs += 61n * SECOND;
  const successor = await sayHello(cloud, site, siteHello({ store: await startAgain(deps, siteId) }));
  await endRelisting(successor, imported);
  const agent = await again(imported.agent);
  const refused = await ask({ ...imported, agent, site: successor }, confirm);
  assert.ok(refused.answer === "refused" && refused.code === "SafetyPeriod" && refused.notBefore !== undefined);
  assert.match(refused.text, /took over/);
  clock.aheadNs += DAY;
  const last = { ...imported, agent: await again(imported.agent), site: successor };
  await successor.call(api.site.work, {}); // a day has passed: the site is asked to list everything
  await endRelisting(successor, imported);
  assert.equal(codeOf(await ask(last, confirm)), "granted");
});

test("after a restore an admin allows it again", async () => {
  const imported = await importAtSite();
  const { key, size, agent } = imported;
  const confirm = () => ({ confirmed: [{ key, size }] });
  await proves(imported);
  const incarnation = randomUUID();
  await prisma.deployment.update({ where: { id: 1 }, data: { incarnation } });
  await prisma.agent.updateMany({ where: { deviceId: agent.deviceId }, data: { listedIncarnation: incarnation } });
  assert.equal(codeOf(await ask(imported, confirm)), "SafetyPeriod");
  await proves(imported);
  assert.equal(codeOf(await ask(imported, confirm)), "granted");
});

/** The lease of an agent has ended while the clock went on. */
async function again(agent: TestAgent): Promise<TestAgent> {
  return greetAgain(cloud, { ...agent, lease: agent.hello.lease });
}

/** Lists all that the site has, and waits until that was judged. */
async function endRelisting(site: TestSite, { key, size }: Imported): Promise<void> {
  const { siteId } = site;
  const { relistId } = await prisma.siteProcess.findUniqueOrThrow({ where: { siteId } });
  await site.report({ present: [{ key, size }], relistedId: relistId! });
  await eventually(
    () => prisma.siteProcess.findUniqueOrThrow({ where: { siteId } }),
    (row) => row.relistId === null,
  );
}
