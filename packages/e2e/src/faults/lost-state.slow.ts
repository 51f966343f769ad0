import assert from "node:assert/strict";
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { startCloud, type TestCloud } from "@downlink/cloud/testing";
import { makeMcap } from "@downlink/recordings/testing";
import { type Surroundings, untilAnswered } from "./fault-bed.ts";
import { keepRunning } from "./keep-running.ts";
import { liveThrough, makeRobot, type Robot, recordingsOf } from "./robot.ts";

/** A way to lose the agent's state; `before` is a copy of the state directory from before the imports. */
type Loss = (stateDir: string, before: string) => Promise<void>;

const losses: Readonly<Record<string, Loss>> = {
  "deleted with all beside it": (stateDir) => rm(stateDir, { recursive: true }),
  deleted: async (stateDir) => {
    for (const path of await databaseFiles(stateDir)) await rm(path);
  },
  corrupted: async (stateDir) => {
    for (const path of await databaseFiles(stateDir)) await writeFile(path, "rubbish".repeat(5000));
  },
  "rolled back to before the imports": async (stateDir, before) => {
    await rm(stateDir, { recursive: true });
    await cp(before, stateDir, { recursive: true });
  },
};

async function databaseFiles(stateDir: string): Promise<string[]> {
  const names = (await readdir(stateDir)).filter((name) => name.startsWith("agent.db"));
  return names.map((name) => join(stateDir, name));
}

test("an agent whose state was lost converges: the same recordings, and nothing that was imported is sent again", {
  concurrency: 2,
}, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "downlink-lost-"));
  const cloud = await startCloud(t);
  t.after(() => rm(folder, { recursive: true }));
  const surroundings = { folder, url: cloud.url, admin: cloud.admin };
  const cases = Object.entries(losses);
  await Promise.all(cases.map(([loss, lose]) => t.test(loss, () => loseState(surroundings, { cloud, lose }))));
});

async function loseState(surroundings: Surroundings, { cloud, lose }: { cloud: TestCloud; lose: Loss }): Promise<void> {
  await using robot = await makeRobot(surroundings);
  const { stateDir, journal } = robot;
  const before = `${stateDir}-before`;
  await run(robot, () =>
    untilAnswered(
      () => recordingsOf(surroundings, robot),
      (all) => all.length === 4,
    ),
  );
  await cp(stateDir, before, { recursive: true });
  await run(robot, () => liveThrough(surroundings, robot));
  const known = await fatesOf(surroundings, robot);

  await lose(stateDir, before);
  await writeFile(join(robot.root, "new.mcap"), await makeMcap({ durationSeconds: 0.2 }));
  await writeFile(journal, "");
  // An agent that does not know the lease has to wait for its end, which takes a minute.
  await cloud.deps.db.prisma.agent.updateMany({ where: { deviceId: robot.deviceId }, data: { leaseExpiresAtNs: 0n } });
  // A file that the old state still knows is reported again, until two scans did not find it.
  const isAsBefore = (fates: readonly string[]) => fates.length === known.length + 1 && isSubset(known, fates);
  await run(robot, () => untilAnswered(() => fatesOf(surroundings, robot), isAsBefore));
  assert.doesNotMatch(await readFile(journal, "utf8"), /before part/);
}

function isSubset(some: readonly string[], all: readonly string[]): boolean {
  return some.every((fate) => all.includes(fate));
}

async function run(robot: Robot, work: () => Promise<unknown>): Promise<void> {
  await using agent = keepRunning(robot.agentOptions);
  await Promise.race([work(), agent.fell]);
  await agent.stop();
}

async function fatesOf(surroundings: Surroundings, robot: Robot): Promise<string[]> {
  const all = await recordingsOf(surroundings, robot);
  return all.map(({ id, path, importStatus }) => `${path} ${importStatus} ${id}`).sort();
}
