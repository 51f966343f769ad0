import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { api } from "@downlink/protocol";
import { sha256Of } from "../processes/scenario.ts";
import { type FaultBed, untilAnswered } from "./fault-bed.ts";
import { files, type Robot, recordingsOf } from "./robot.ts";

const FILES_ASKED_FOR = 3;

/**
 * What holds after every fault, whatever it was: each file is one recording, what is stored is the file byte for byte and
 * stored once, nothing is stuck, and nothing that was acknowledged was sent again.
 */
export async function assertInvariants(bed: FaultBed, robot: Robot): Promise<void> {
  await untilAnswered(
    () => assertAll(bed, robot),
    () => true,
  );
}

async function assertAll(bed: FaultBed, robot: Robot): Promise<void> {
  const recordings = await recordingsOf(bed, robot);
  const paths = recordings.map(({ path }) => path);
  assert.deepEqual([...new Set(paths)].sort(), paths.sort(), "a file is one recording");
  const known: readonly string[] = [files.small, files.large, files.renamedTo, files.deleted];
  assert.deepEqual(
    paths.filter((path) => !known.includes(path)),
    [],
    "nothing else is a recording",
  );
  await assertStoredOnce(bed, robot);
  await assertNothingStuck(bed, robot);
  assert.deepEqual(await placesSentAgain(robot), [], "a part or a piece that was acknowledged is not sent again");
  assert.ok((await countUploads(robot)) <= FILES_ASKED_FOR, "no upload is thrown away for another one");
}

async function assertStoredOnce(bed: FaultBed, robot: Robot): Promise<void> {
  const counts = await bed.countObjects();
  for (const path of [files.small, files.large]) {
    const sha256 = await sha256Of(join(robot.root, path));
    assert.equal(counts.get(sha256), 1, `${path} is stored once, byte for byte`);
  }
  const unasked = await sha256Of(join(robot.root, files.renamedTo));
  assert.equal(counts.get(unasked), undefined, "what nobody asked for is not stored");
}

async function assertNothingStuck({ admin }: FaultBed, { deviceId }: Robot): Promise<void> {
  const pending = await admin.call(api.pendingImports.list, { deviceId, showCompleted: true, showQuarantined: true });
  const stuck = pending.filter(({ terminal }) => !terminal);
  assert.deepEqual(stuck, [], "no import is under way for ever");
  const imports = await admin.call(api.imports.list, { deviceId });
  const names = imports.map(({ filename }) => filename);
  assert.deepEqual([...new Set(names)].sort(), names.sort(), "no request imports twice");
}

/** What each part or piece that was sent says of the upload that it is of. */
async function countUploads({ journal }: Robot): Promise<number> {
  const places = (await readFile(journal, "utf8")).matchAll(/^before (?:part|piece).*\t ([^/\s]+)\//gm);
  return new Set(Array.from(places, ([, uploadId]) => uploadId)).size;
}

/** Parts, and pieces of them, that an agent began to send after one knew that the cloud has them. */
async function placesSentAgain({ journal }: Robot): Promise<string[]> {
  const acknowledged = new Set<string>();
  const again: string[] = [];
  for (const line of (await readFile(journal, "utf8")).split("\n")) {
    const [point = "", place = ""] = line.split("\t");
    if (/^before (part|piece)/.test(point) && acknowledged.has(place)) again.push(place);
    if (/^after (part|piece)/.test(point)) acknowledged.add(place);
  }
  return again;
}
