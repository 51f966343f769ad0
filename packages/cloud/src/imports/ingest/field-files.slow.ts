import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { after, test } from "node:test";
import { api } from "@downlink/protocol";
import {
  type FieldExpectation,
  fieldFolder,
  listSharedFiles,
  parseExpectations,
  readIndexedMessages,
  skipWithout,
} from "@downlink/recordings/testing";
import { startCloud } from "../../testing/start-cloud.ts";
import { endOfImport, uploadFile } from "../../testing/upload-file.ts";

const skip = skipWithout(fieldFolder);
const cloud = await startCloud({ after });
const { admin } = cloud;

for (const list of listSharedFiles(fieldFolder, "expected.json")) {
  const folder = basename(dirname(list));
  test(`of the files in ${folder} that are uploaded, all that a careful scan finds is had by the import or its salvage`, {
    skip,
  }, async () => {
    for (const [name, expected] of Object.entries(parseExpectations(await readFile(list, "utf8")))) {
      const path = `${folder}/${name}`;
      const had = await importOrSalvage(path, await readFile(join(fieldFolder, path)));
      if (had === undefined) assert.equal(expected.messages, 0, `${path}: nothing of it can be had`);
      else await requireMessages(path, expected, had);
    }
  });
}

/** Answers the recording that came of a file, by the action that its failure names; undefined if there is none. */
async function importOrSalvage(path: string, bytes: Uint8Array): Promise<string | undefined> {
  const ended = await uploadFile(cloud, bytes, { filename: path, deviceName: "robot" });
  if (ended.status === "complete") return ended.recordingId!;
  const asked = await admin.call(api.pendingImports.salvage, { requestId: ended.requestId }).catch(() => undefined);
  const made = asked && (await endOfImport(cloud, asked.requestId));
  return made?.recordingId ?? undefined;
}

/** Nothing less than the scan finds. */
async function requireMessages(path: string, { topics }: FieldExpectation, recordingId: string): Promise<void> {
  const { link } = await admin.call(api.exports.create, { recordingId });
  const counts = new Map<string, number>();
  for (const { topic } of await readIndexedMessages(await (await fetch(link)).bytes()))
    counts.set(topic, (counts.get(topic) ?? 0) + 1);
  for (const [topic, { count }] of Object.entries(topics))
    assert.ok((counts.get(topic) ?? 0) >= count, `${path} ${topic}: ${counts.get(topic)} of ${count}`);
}
