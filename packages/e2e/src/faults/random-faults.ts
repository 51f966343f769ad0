import { setTimeout as delay } from "node:timers/promises";
import type { FaultBed } from "./fault-bed.ts";
import { assertInvariants } from "./invariants.ts";
import { type KeptAgent, keepRunning } from "./keep-running.ts";
import { liveThrough, makeRobot, type Robot } from "./robot.ts";
import { copyCard, takeOutCard, touchFiles } from "./touch-files.ts";

interface Struck {
  readonly bed: FaultBed;
  readonly robot: Robot;
  readonly agent: KeptAgent;
}

type Strike = (struck: Struck) => Promise<void>;

/** What happens, and how often in so many. */
const faults: readonly { readonly name: string; readonly weight: number; readonly strike: Strike }[] = [
  { name: "agent killed", weight: 12, strike: ({ agent }) => agent.kill("SIGKILL") },
  { name: "agent stopped", weight: 3, strike: ({ agent }) => agent.kill("SIGTERM") },
  { name: "link cut", weight: 3, strike: async ({ bed }) => bed.proxy.cut() },
  { name: "link dead, then cut", weight: 2, strike: killLink },
  { name: "link loses packets", weight: 2, strike: loseLink },
  { name: "link slow and cut", weight: 3, strike: wearLink },
  { name: "robot's clock set", weight: 2, strike: setClock },
  { name: "files touched", weight: 4, strike: ({ robot }) => robot.withFiles(touchFiles) },
  { name: "card taken out and put in", weight: 2, strike: ({ robot }) => robot.withFiles(takeOutCard) },
  { name: "card copied to another one", weight: 2, strike: ({ robot }) => robot.withFiles(copyCard) },
  { name: "control plane killed", weight: 1, strike: ({ bed }) => bed.crashCloud() },
  { name: "Postgres killed", weight: 1, strike: ({ bed }) => bed.crashPostgres() },
];

/** Of one life, so that it comes to its end. */
const FAULTS_PER_LIFE = 6;
const LONGEST_PAUSE_MS = 700;
const DEAD_MS = 400;
const LOST_SHARE = 0.3;
/** Pieces of 64 KiB, of which some are cut. */
const WORN_BYTES_PER_SECOND = 400_000;
const YEAR_MS = 365 * 86_400_000;

export interface Survival {
  /** In their order. */
  readonly faults: readonly string[];
}

/** A robot's life with faults at random instants, `random` in [0, 1). Fails where an invariant does not hold in the end. */
export async function surviveFaults(bed: FaultBed, random: () => number): Promise<Survival> {
  await using robot = await makeRobot(bed);
  const struck: string[] = [];
  try {
    await strikeRobot(bed, { robot, random, struck });
  } catch (error) {
    throw new Error(`after ${struck.join(", ") || "no fault"}: ${(error as Error).message}`, { cause: error });
  }
  return { faults: struck };
}

async function strikeRobot(
  bed: FaultBed,
  { robot, random, struck }: { robot: Robot; random: () => number; struck: string[] },
): Promise<void> {
  await using agent = keepRunning(robot.agentOptions);
  let isOver = false;
  const life = liveThrough(bed, robot).finally(() => {
    isOver = true;
  });
  life.catch(() => {});
  while (!isOver && struck.length < FAULTS_PER_LIFE) {
    await delay(random() * LONGEST_PAUSE_MS);
    const { name, strike } = pick(random());
    struck.push(name);
    await strike({ bed, robot, agent });
  }
  await Promise.race([life, agent.fell]);
  await agent.stop();
  await assertInvariants(bed, robot);
}

function pick(chance: number) {
  const drawn = faults.flatMap((fault) => Array.from({ length: fault.weight }, () => fault));
  return drawn[Math.floor(chance * drawn.length)]!;
}

/** Nothing comes through and nobody says so, as where a robot drives into a tunnel. */
async function killLink({ bed: { proxy } }: Struck): Promise<void> {
  proxy.holdAfter(proxy.sentBytes());
  await delay(DEAD_MS);
  proxy.cut();
  proxy.holdAfter(Number.POSITIVE_INFINITY);
}

async function loseLink({ bed: { proxy } }: Struck): Promise<void> {
  proxy.lose(LOST_SHARE);
  await delay(LONGEST_PAUSE_MS);
  proxy.lose(0);
}

/** Slow, and cut again and again: of a part only pieces come through. */
async function wearLink({ bed: { proxy } }: Struck): Promise<void> {
  proxy.throttle(WORN_BYTES_PER_SECOND);
  for (let cut = 0; cut < 3; cut++) {
    await delay(LONGEST_PAUSE_MS);
    proxy.cut();
  }
  proxy.throttle(Number.POSITIVE_INFINITY);
}

/** By a year, and set right again in between. */
async function setClock({ robot }: Struck): Promise<void> {
  for (const shiftMs of [YEAR_MS, 0, -YEAR_MS]) {
    await robot.setClock(shiftMs);
    await delay(DEAD_MS);
  }
}
