import { readFile } from "node:fs/promises";
import type { FaultBed } from "./fault-bed.ts";
import { assertInvariants } from "./invariants.ts";
import { keepRunning } from "./keep-running.ts";
import { liveThrough, makeRobot, type Robot } from "./robot.ts";

export type Crash = "killed" | "not reached";

/** Lists every point at which a crash is tried: before and after each durable step of a life without faults, in its order. */
export async function listCrashPoints(bed: FaultBed): Promise<string[]> {
  await using robot = await makeRobot(bed);
  await using agent = keepRunning(robot.agentOptions);
  await Promise.race([liveThrough(bed, robot), agent.fell]);
  await agent.stop();
  await assertInvariants(bed, robot);
  const lines = (await readFile(robot.journal, "utf8")).trim().split("\n");
  return lines.map((line) => line.split("\t")[0]!).filter((point) => !noPoint.test(point));
}

/** Calls that failed, and those that only ask for something, are no points. */
const noPoint = /^failed|\/edge\/work /;

/** Not every life reaches every step: two steps that one life commits together are separate in another. */
const MOST_LIVES = 3;

/**
 * Repeats the life with an agent that is killed at that point and started again. Fails if an invariant does not hold. Lives differ in how
 * often they do a step, so that only the first time of each step is tried in more than one life.
 */
export async function crashAt(bed: FaultBed, point: string): Promise<Crash> {
  for (let life = 1; life < MOST_LIVES && point.endsWith(" #1"); life += 1)
    if ((await tryCrash(bed, point)) === "killed") return "killed";
  return await tryCrash(bed, point);
}

async function tryCrash(bed: FaultBed, point: string): Promise<Crash> {
  await using robot = await makeRobot(bed);
  try {
    return await crashRobot(bed, robot, point);
  } catch (error) {
    throw new Error(`killed ${point}: ${(error as Error).message}`, { cause: error });
  }
}

async function crashRobot(bed: FaultBed, robot: Robot, point: string): Promise<Crash> {
  const { agentOptions } = robot;
  const first = { ...agentOptions, env: { ...agentOptions.env, FAULTS_CRASH_AT: point } };
  await using agent = keepRunning(agentOptions, first);
  await Promise.race([liveThrough(bed, robot), agent.fell]);
  await agent.stop();
  await assertInvariants(bed, robot);
  return agent.kills() > 0 ? "killed" : "not reached";
}
