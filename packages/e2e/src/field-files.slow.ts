import assert from "node:assert/strict";
import { cp, readFile } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { test } from "node:test";
import { api, type EdgeFile, type Recording, SALVAGE_RECORD_NAME } from "@downlink/protocol";
import {
  eventually,
  type FieldExpectation,
  fieldFolder,
  listSharedFiles,
  parseExpectations,
  skipWithout,
} from "@downlink/recordings/testing";
import { type Scenario, startScenario } from "./processes/scenario.ts";

/**
 * The device sees only that these files have another version of the format. The control plane reads the parts of them that are as in the
 * known one.
 */
const readElsewhere = new Set(["20-not-what-it-says/i_mcap_version_1.mcap"]);

test("of every field file on a robot, what a careful scan finds is had by its import or its salvage, here or there", {
  skip: skipWithout(fieldFolder),
}, async (t) => {
  const scenario = await startScenario(t);
  const files = await readFieldFiles();
  await cp(fieldFolder, scenario.storageRoot, { recursive: true });
  scenario.startAgent();
  const listed = await untilListed(scenario, files.size);
  await salvageOnDevice(scenario, listed);
  await importAll(scenario);
  await salvageHere(scenario);

  const had = new Map<string, Map<string, number>>();
  for (const recording of await completeRecordings(scenario)) {
    const path = originOf(recording);
    had.set(path, await countTopics(scenario, recording.id));
  }
  const copies = await pathsOfCopies(scenario);
  for (const [path, { topics }] of files) {
    if (readElsewhere.has(path) || copies.has(path)) continue;
    for (const [topic, { count }] of Object.entries(topics)) {
      const found = had.get(path)?.get(topic) ?? 0;
      assert.ok(found >= count, `${path} ${topic}: ${found} of ${count}`);
    }
  }
});

/** The expectations by path. Files that are no recording by their name are not looked at. */
async function readFieldFiles(): Promise<Map<string, FieldExpectation>> {
  const files = new Map<string, FieldExpectation>();
  for (const list of listSharedFiles(fieldFolder, "expected.json")) {
    const expectations = parseExpectations(await readFile(list, "utf8"));
    for (const [name, expected] of Object.entries(expectations))
      if (/\.(mcap|bag)$/.test(name)) files.set(`${basename(dirname(list))}/${name}`, expected);
  }
  return files;
}

async function untilListed({ cloud, recordings }: Scenario, count: number): Promise<EdgeFile[]> {
  const edgeFiles = () => cloud().admin.call(api.edgeFiles.list, { limit: 1000 });
  return eventually(
    async () => ({ files: await edgeFiles(), found: await recordings() }),
    ({ files, found }) => files.length + found.length >= count && files.every(({ state }) => state !== "settling"),
  ).then(({ files }) => files);
}

async function salvageOnDevice({ cloud, recordings }: Scenario, files: readonly EdgeFile[]): Promise<void> {
  const { admin } = cloud();
  const before = (await recordings()).length;
  const wanted = files.filter(({ salvage }) => salvage !== undefined);
  for (const { id } of wanted) await admin.call(api.edgeFiles.salvage, { id });
  await untilEach(wanted.length, recordings, (all) => all.length - before);
}

/** Requests all recordings, also those that the device salvaged. */
async function importAll({ cloud, recordings }: Scenario): Promise<void> {
  const recordingIds = (await recordings()).map(({ id }) => id);
  await cloud().admin.call(api.importRequests.create, { recordingIds });
  const isOver = ({ id, importStatus }: Recording) =>
    recordingIds.includes(id) && (importStatus === "complete" || importStatus === "failed");
  await untilEach(recordingIds.length, recordings, (all) => all.filter(isOver).length);
}

/** Waits until so many have come, each for as long as one may take: all of them together take minutes on a busy machine. */
async function untilEach(
  count: number,
  recordings: Scenario["recordings"],
  countCome: (all: readonly Recording[]) => number,
): Promise<void> {
  for (let come = 0; come < count; ) {
    const all = await eventually(recordings, (now) => countCome(now) > come);
    come = countCome(all);
  }
}

/** Salvages files from their stored bytes if only their import found the damage. */
async function salvageHere({ cloud }: Scenario): Promise<void> {
  const { admin } = cloud();
  const failed = await admin.call(api.pendingImports.list, { showQuarantined: true, limit: 1000 });
  const asked = await Promise.all(
    failed.map(({ requestId }) => admin.call(api.pendingImports.salvage, { requestId }).catch(() => undefined)),
  );
  for (const { requestId } of asked.filter((one) => one !== undefined))
    await eventually(
      () => admin.call(api.pendingImports.get, { requestId }),
      ({ status }) => status === "complete" || status === "error",
    );
}

async function completeRecordings({ recordings }: Scenario): Promise<Recording[]> {
  return (await recordings()).filter(({ importStatus }) => importStatus === "complete");
}

/** Returns the paths of files that were not imported because another one has the same content. */
async function pathsOfCopies({ recordings }: Scenario): Promise<Set<string>> {
  const copies = (await recordings()).filter(({ failure }) => failure?.code === "DuplicateContent");
  return new Set(copies.map(({ path }) => path));
}

/** A salvage names the file that it is made of. */
function originOf({ path, metadata }: Recording): string {
  return metadata.findLast(({ name }) => name === SALVAGE_RECORD_NAME)?.metadata.path ?? path;
}

async function countTopics({ cloud }: Scenario, keyOrId: string): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const { topic, messageCount } of await cloud().admin.call(api.recordings.topics, { keyOrId }))
    counts.set(topic, (counts.get(topic) ?? 0) + messageCount);
  return counts;
}
