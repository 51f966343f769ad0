import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { api } from "@downlink/protocol";
import { sha256Of } from "../processes/scenario.ts";
import { type FaultBed, untilAnswered } from "./fault-bed.ts";
import { files, type Robot, recordingsOf } from "./robot.ts";

const FILES_ASKED_FOR = 3;

/**
 * The data that the object store had acknowledged and lost, because it was set back. It may be sent and imported once more for each loss.
 */
export interface Losses {
  /** The SHA-256 of each whole object that was lost. */
  readonly objects: readonly string[];
  /** In the journal of the robot's agents: what was acknowledged after `from` was lost at `until`, counted in characters. */
  readonly spans: readonly { readonly from: number; readonly until: number }[];
}

const nothing: Losses = { objects: [], spans: [] };

/**
 * Checks what holds after every fault: each file is one recording, the stored object is the file byte for byte and is stored once, nothing
 * is stuck, and nothing that was acknowledged was sent again.
 */
export async function assertInvariants(bed: FaultBed, robot: Robot, losses = nothing): Promise<void> {
  await untilAnswered(
    () => assertAll(bed, robot, losses),
    () => true,
  );
}

async function assertAll(bed: FaultBed, robot: Robot, losses: Losses): Promise<void> {
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
  await assertNothingStuck(bed, robot, losses);
  assert.deepEqual(
    await placesSentAgain(robot.journal, losses.spans),
    [],
    "a part or a piece that was acknowledged is not sent again",
  );
  const lost = await uploadsLost(robot, losses);
  const uploads = uploadsIn(await readFile(robot.journal, "utf8"), "before");
  assert.ok(uploads.size <= FILES_ASKED_FOR + lost, "no upload is thrown away for another one");
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

async function assertNothingStuck({ admin }: FaultBed, { deviceId, contents }: Robot, losses: Losses): Promise<void> {
  const pending = await admin.call(api.pendingImports.list, { deviceId, showCompleted: true, showQuarantined: true });
  const stuck = pending.filter(({ terminal }) => !terminal);
  assert.deepEqual(stuck, [], "no import is under way for ever");
  const imports = await admin.call(api.imports.list, { deviceId });
  const names = imports.map(({ filename }) => filename);
  const timesLost = (name: string) => losses.objects.filter((sha256) => contents.get(name) === sha256).length;
  const isTooOften = (name: string) => names.filter((one) => one === name).length > 1 + timesLost(name);
  assert.deepEqual(names.filter(isTooOften), [], "no request imports twice");
}

/** Counts the uploads of which something was acknowledged and lost, once for each time. */
async function uploadsLost({ journal }: Robot, { spans }: Losses): Promise<number> {
  const text = await readFile(journal, "utf8");
  return spans.reduce((sum, { from, until }) => sum + uploadsIn(text.slice(from, until), "after").size, 0);
}

/** Returns the uploads to which the parts and pieces belong that were sent, or acknowledged. */
function uploadsIn(journal: string, when: "before" | "after"): Set<string> {
  const places = journal.matchAll(new RegExp(`^${when} (?:part|piece).*\\t ([^/\\s]+)/`, "gm"));
  return new Set(Array.from(places, ([, uploadId]) => uploadId!));
}

/** Parts, and pieces of them, that an agent began to send after one knew that the cloud has them. */
export async function placesSentAgain(journal: string, lost: Losses["spans"] = []): Promise<string[]> {
  const acknowledged = new Map<string, number>();
  const again: string[] = [];
  let at = 0;
  const isLost = (since: number) => lost.some(({ from, until }) => from <= since && since < until && until <= at);
  for (const line of (await readFile(journal, "utf8")).split("\n")) {
    const [point = "", place = ""] = line.split("\t");
    const since = acknowledged.get(place);
    if (/^before (part|piece)/.test(point) && since !== undefined && !isLost(since)) again.push(place);
    if (/^after (part|piece)/.test(point)) acknowledged.set(place, at);
    at += line.length + 1;
  }
  return again;
}
