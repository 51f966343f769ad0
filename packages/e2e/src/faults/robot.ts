import { randomInt } from "node:crypto";
import { mkdir, open, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ApiCallError } from "@downlink/client";
import { api, type Recording } from "@downlink/protocol";
import { makeMcap, makeZeroMcap } from "@downlink/recordings/testing";
import type { EdgeAgentOptions } from "../processes/edge-agent.ts";
import { sha256Of } from "../processes/scenario.ts";
import { type Surroundings, untilAnswered } from "./fault-bed.ts";
import { createShiftedClock } from "./shifted-clock.ts";
import { touchFiles } from "./touch-files.ts";

/** A device with recordings for every course of events, and the settings of its agent. */
export interface Robot extends AsyncDisposable {
  readonly deviceId: string;
  readonly root: string;
  readonly stateDir: string;
  /** The file into which its agents write their durable steps. */
  readonly journal: string;
  readonly agentOptions: EdgeAgentOptions;
  /** The SHA-256 of each file that is requested, by its path. */
  readonly contents: ReadonlyMap<string, string>;
  /** Sets its agent's wall clock wrong by this much, from now on. */
  setClock(shiftMs: number): Promise<void>;
  /** Does something with its files while no other caller of this does. */
  withFiles<T>(work: (root: string) => Promise<T>): Promise<T>;
}

/** The files on the device, named for what happens to them. `large` takes two parts. */
export const files = {
  small: "small.mcap",
  large: "deep/large.mcap",
  deleted: "deleted.mcap",
  renamedFrom: "before.mcap",
  renamedTo: "deep/after.mcap",
  cut: "cut.mcap",
} as const;

const LARGE_BYTES = 17 * 1024 * 1024;
const journalSteps = new URL("./journal-steps.ts", import.meta.url).href;

/** Further options of the agent. */
type Extras = Pick<EdgeAgentOptions, "env" | "within">;

export async function makeRobot(surroundings: Surroundings, extras: Extras = {}): Promise<Robot> {
  const folder = join(surroundings.folder, randomName());
  const [root, stateDir, journal] = [join(folder, "root"), join(folder, "state"), join(folder, "journal")];
  await mkdir(join(root, "deep"), { recursive: true });
  await writeFiles(root);
  const clock = await createShiftedClock(join(folder, "clock"));
  const { deviceId, token } = await untilAnswered(
    () => enrollDevice(surroundings),
    () => true,
  );
  const env = {
    FAULTS_JOURNAL: journal,
    DOWNLINK_SETTLE_TIME: "50ms",
    DOWNLINK_WATCH_SCAN_INTERVAL: "300ms",
    DOWNLINK_INCOMPLETE_AFTER: "500ms",
    ...clock.env,
    ...extras.env,
  };
  const nodeArgs = ["--import", journalSteps, "--import", clock.module];
  const place = { url: surroundings.url, token, storageRoot: root, stateDir };
  return {
    deviceId,
    root,
    stateDir,
    journal,
    agentOptions: { ...place, env, nodeArgs, within: extras.within },
    contents: await readContents(root),
    setClock: clock.set,
    withFiles: createTurns(root),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Runs one task after the other, in the order of the calls. */
function createTurns(root: string): Robot["withFiles"] {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const turn = last.then(() => work(root));
    last = turn.catch(() => {});
    return turn;
  };
}

async function readContents(root: string): Promise<Map<string, string>> {
  const paths = [files.small, files.large, files.deleted];
  return new Map(await Promise.all(paths.map(async (path) => [path, await sha256Of(join(root, path))] as const)));
}

/** Each attempt uses a new name, because the answer of an earlier one may have been lost. */
async function enrollDevice({ admin }: Surroundings): Promise<{ deviceId: string; token: string }> {
  const device = await admin.call(api.devices.create, { name: randomName() });
  const { token } = await admin.call(api.deviceTokens.create, { deviceId: device.id });
  return { deviceId: device.id, token: token! };
}

function randomName(): string {
  return `robot-${randomInt(2 ** 47).toString(36)}`;
}

async function writeFiles(root: string): Promise<void> {
  const seed = randomInt(2 ** 47);
  for (const [index, path] of [files.small, files.deleted, files.renamedFrom].entries())
    await writeFile(join(root, path), await makeSmall(seed + index));
  await writeFile(join(root, files.cut), (await makeSmall(seed + 3)).slice(0, -200));
  await writeLarge(join(root, files.large), seed);
}

/** Every file has content of its own: a content that is stored twice was sent twice. */
async function makeSmall(seed: number): Promise<Uint8Array> {
  const metadata = [{ name: "made", metadata: { seed: String(seed) } }];
  return await makeMcap({ durationSeconds: 0.5, seed, metadata });
}

async function writeLarge(path: string, seed: number): Promise<void> {
  await using file = await open(path, "w");
  const { sizeBytes, pieces } = makeZeroMcap(LARGE_BYTES);
  let at = 0;
  for (const piece of pieces()) {
    await file.write(piece, 0, piece.byteLength, at);
    at += piece.byteLength;
  }
  const mark = Buffer.from(`seed ${seed}`);
  await file.write(mark, 0, mark.byteLength, Math.floor(sizeBytes / 2));
}

export async function recordingsOf({ admin }: Surroundings, { deviceId }: Robot): Promise<Recording[]> {
  return await admin.call(api.recordings.list, { deviceId });
}

/** Requests files, deletes one of them, renames another, touches some, and waits until nothing more is expected. */
export async function liveThrough(surroundings: Surroundings, robot: Robot): Promise<void> {
  const list = () => recordingsOf(surroundings, robot);
  const listed = await untilAnswered(list, (all) => all.length === 4);
  await robot.withFiles((root) => rm(join(root, files.deleted)));
  for (const path of [files.deleted, files.small, files.large])
    await requestImport(surroundings, robot, listed.find((one) => one.path === path)!.id);
  await robot.withFiles((root) => rename(join(root, files.renamedFrom), join(root, files.renamedTo)));
  await robot.withFiles(touchFiles);
  await untilAnswered(list, isSettled);
  await untilAnswered(
    () => surroundings.admin.call(api.edgeFiles.list, { deviceId: robot.deviceId }),
    (all) => all.length === 1 && all[0]?.state === "incomplete",
  );
}

/** The deleted file may be reported as gone by now. */
async function requestImport(surroundings: Surroundings, robot: Robot, id: string): Promise<void> {
  const ask = async () => {
    const all = await recordingsOf(surroundings, robot);
    const status = all.find((one) => one.id === id)?.importStatus;
    if (status === "none")
      await surroundings.admin.call(api.recordings.requestImport, { keyOrId: id }).catch(ignoreGone);
    return status;
  };
  await untilAnswered(ask, (status) => status !== "none");
}

function ignoreGone(failure: unknown): void {
  if (!(failure instanceof ApiCallError && failure.code === "NotFound")) throw failure;
}

export function isSettled(all: readonly Recording[]): boolean {
  const statusOf = (path: string) => all.find((one) => one.path === path)?.importStatus;
  const isDelivered = statusOf(files.small) === "complete" && statusOf(files.large) === "complete";
  const fate = statusOf(files.deleted);
  const isDeletedOver = fate === undefined || fate === "failed" || fate === "complete";
  return isDelivered && isDeletedOver && statusOf(files.renamedTo) === "none" && !statusOf(files.renamedFrom);
}
