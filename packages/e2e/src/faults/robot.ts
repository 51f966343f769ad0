import { randomInt } from "node:crypto";
import { mkdir, open, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ApiCallError } from "@downlink/client";
import { api, type Recording } from "@downlink/protocol";
import { makeMcap, makeZeroMcap } from "@downlink/recordings/testing";
import type { EdgeAgentOptions } from "../processes/edge-agent.ts";
import { type Ground, untilAnswered } from "./fault-bed.ts";
import { createShiftedClock } from "./shifted-clock.ts";
import { touchFiles } from "./touch-files.ts";

/** A device with recordings of every fate on it, and the settings of its agent. */
export interface Robot extends AsyncDisposable {
  readonly deviceId: string;
  readonly root: string;
  readonly stateDir: string;
  /** Where its agents write down their durable steps. */
  readonly journal: string;
  readonly agentOptions: EdgeAgentOptions;
  /** From now on its agent's wall clock is off by so much. */
  setClock(shiftMs: number): Promise<void>;
  /** Does something with its files while nobody else does. */
  withFiles<T>(work: (root: string) => Promise<T>): Promise<T>;
}

/** What becomes of the files on it. `large` takes two parts. */
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

/** What the agent gets besides. */
type Extras = Pick<EdgeAgentOptions, "env" | "within">;

export async function makeRobot(ground: Ground, extras: Extras = {}): Promise<Robot> {
  const folder = join(ground.folder, randomName());
  const [root, stateDir, journal] = [join(folder, "root"), join(folder, "state"), join(folder, "journal")];
  await mkdir(join(root, "deep"), { recursive: true });
  await writeFiles(root);
  const clock = await createShiftedClock(join(folder, "clock"));
  const { deviceId, token } = await untilAnswered(
    () => enrollDevice(ground),
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
  const place = { url: ground.url, token, storageRoot: root, stateDir };
  return {
    deviceId,
    root,
    stateDir,
    journal,
    agentOptions: { ...place, env, nodeArgs, within: extras.within },
    setClock: clock.set,
    withFiles: createTurns(root),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

/** One after the other, in the order of the calls. */
function createTurns(root: string): Robot["withFiles"] {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const turn = last.then(() => work(root));
    last = turn.catch(() => {});
    return turn;
  };
}

/** Under a name of its own at each try: an answer may be lost. */
async function enrollDevice({ admin }: Ground): Promise<{ deviceId: string; token: string }> {
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

/** Every file has content of its own: where it is stored twice, it was sent twice. */
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

export async function recordingsOf({ admin }: Ground, { deviceId }: Robot): Promise<Recording[]> {
  return await admin.call(api.recordings.list, { deviceId });
}

/** Asks for files, deletes one that was asked for, renames another, touches some, and waits until nothing more is to come. */
export async function liveThrough(ground: Ground, robot: Robot): Promise<void> {
  const list = () => recordingsOf(ground, robot);
  const listed = await untilAnswered(list, (all) => all.length === 4);
  await robot.withFiles((root) => rm(join(root, files.deleted)));
  for (const path of [files.deleted, files.small, files.large])
    await requestImport(ground, robot, listed.find((one) => one.path === path)!.id);
  await robot.withFiles((root) => rename(join(root, files.renamedFrom), join(root, files.renamedTo)));
  await robot.withFiles(touchFiles);
  await untilAnswered(list, isSettled);
  await untilAnswered(
    () => ground.admin.call(api.edgeFiles.list, { deviceId: robot.deviceId }),
    (all) => all.length === 1 && all[0]?.state === "incomplete",
  );
}

/** The deleted one may be known to be gone by now. */
async function requestImport(ground: Ground, robot: Robot, id: string): Promise<void> {
  const ask = async () => {
    const all = await recordingsOf(ground, robot);
    const status = all.find((one) => one.id === id)?.importStatus;
    if (status === "none") await ground.admin.call(api.recordings.requestImport, { keyOrId: id }).catch(ignoreGone);
    return status;
  };
  await untilAnswered(ask, (status) => status !== "none");
}

function ignoreGone(failure: unknown): void {
  if (!(failure instanceof ApiCallError && failure.code === "NotFound")) throw failure;
}

function isSettled(all: readonly Recording[]): boolean {
  const statusOf = (path: string) => all.find((one) => one.path === path)?.importStatus;
  const isDelivered = statusOf(files.small) === "complete" && statusOf(files.large) === "complete";
  const fate = statusOf(files.deleted);
  const isDeletedOver = fate === undefined || fate === "failed" || fate === "complete";
  return isDelivered && isDeletedOver && statusOf(files.renamedTo) === "none" && !statusOf(files.renamedFrom);
}
