import { setTimeout as delay } from "node:timers/promises";
import { type FaultBed, untilAnswered } from "./fault-bed.ts";
import { assertInvariants, type Losses } from "./invariants.ts";
import { type KeptAgent, keepRunning } from "./keep-running.ts";
import { openRestorableBed, type RestorableBed, requestAgain } from "./restorable-bed.ts";
import { isSettled, liveThrough, makeRobot, type Robot, recordingsOf } from "./robot.ts";
import { copyCard, takeOutCard, touchFiles } from "./touch-files.ts";

interface Struck {
  readonly bed: FaultBed;
  readonly robot: Robot;
  readonly agent: KeptAgent;
  readonly random: () => number;
}

interface Fault {
  readonly name: string;
  readonly weight: number;
  readonly strike: (struck: Struck) => Promise<void>;
}

/** The faults, and how often each of them happens in relation to the others. */
const faults: readonly Fault[] = [
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

/** A life has at most this many faults, so that it comes to its end. */
const FAULTS_PER_LIFE = 6;
const LONGEST_PAUSE_MS = 700;
const DEAD_MS = 400;
const LOST_SHARE = 0.3;
/** At this rate parts go in pieces of 64 KiB, of which some are cut. */
const WORN_BYTES_PER_SECOND = 400_000;
const YEAR_MS = 365 * 86_400_000;

export interface Survival {
  /** The faults in their order. */
  readonly faults: readonly string[];
}

/** Runs a robot's life with faults at random instants; `random` is in [0, 1). Fails if an invariant does not hold at the end. */
export async function surviveFaults(bed: FaultBed, random: () => number): Promise<Survival> {
  await using robot = await makeRobot(bed);
  return await survive({ bed, robot, random, faults });
}

/**
 * Does the same on a bed of its own, whose database and object store are set back, too. `first` is the name of the fault with which it
 * begins; if undefined, that is drawn like the others.
 */
export async function surviveRestores(random: () => number, first?: string): Promise<Survival> {
  await using bed = await openRestorableBed();
  await bed.copy();
  await using robot = await makeRobot(bed);
  await bed.copy(robot);
  const over = new AbortController();
  const asking = requestAgain(bed, robot, over.signal);
  try {
    const life = { bed, robot, random, faults: [...faults, ...restoresOf(bed)], first, asking };
    return await survive({ ...life, settle: () => settle(bed, robot) });
  } finally {
    over.abort();
    await asking.catch(() => {});
  }
}

async function settle(bed: RestorableBed, robot: Robot): Promise<Losses> {
  await bed.recovered();
  await untilAnswered(() => recordingsOf(bed, robot), isSettled);
  return bed.losses();
}

interface Life {
  readonly bed: FaultBed;
  readonly robot: Robot;
  readonly random: () => number;
  readonly faults: readonly Fault[];
  /** The name of its first fault; undefined: that is drawn, too. */
  readonly first?: string | undefined;
  /** Rejects if what goes on beside it fails. */
  readonly asking?: Promise<void>;
  /** Waits until everything has come to its end again after the last fault. */
  readonly settle?: () => Promise<Losses>;
}

async function survive(life: Life): Promise<Survival> {
  const struck: string[] = [];
  try {
    const strikes = strikeRobot(life, struck);
    await Promise.race([strikes, life.asking?.then(() => strikes) ?? strikes]);
  } catch (error) {
    throw new Error(`after ${struck.join(", ") || "no fault"}: ${(error as Error).message}`, { cause: error });
  }
  return { faults: struck };
}

async function strikeRobot(
  { bed, robot, random, faults: known, first, settle }: Life,
  struck: string[],
): Promise<void> {
  await using agent = keepRunning(robot.agentOptions);
  let isOver = false;
  const life = liveThrough(bed, robot).finally(() => {
    isOver = true;
  });
  life.catch(() => {});
  while (!isOver && struck.length < FAULTS_PER_LIFE) {
    await delay(random() * LONGEST_PAUSE_MS);
    const { name, strike } = struck.length === 0 && first !== undefined ? find(known, first) : pick(known, random());
    struck.push(name);
    await strike({ bed, robot, agent, random });
  }
  await Promise.race([life, agent.fell]);
  const losses = await Promise.race([settle?.(), agent.fell]);
  await agent.stop();
  await assertInvariants(bed, robot, losses);
}

function pick(known: readonly Fault[], chance: number): Fault {
  const drawn = known.flatMap((fault) => Array.from({ length: fault.weight }, () => fault));
  return drawn[Math.floor(chance * drawn.length)]!;
}

function find(known: readonly Fault[], name: string): Fault {
  const found = known.find((fault) => fault.name === name);
  if (!found) throw new Error(`there is no fault "${name}", but ${known.map((fault) => fault.name).join(", ")}`);
  return found;
}

/** They are drawn as often as all the others together. */
function restoresOf(bed: RestorableBed): Fault[] {
  const back = bed.setBack;
  return [
    { name: "copied", weight: 10, strike: ({ robot }) => bed.copy(robot) },
    { name: "database set back", weight: 8, strike: async ({ random }) => bed.setDatabaseBack(random()) },
    {
      name: "database set back while stopped",
      weight: 6,
      strike: ({ robot, random }) => back({ database: true }, robot, random()),
    },
    { name: "store set back", weight: 5, strike: ({ robot, random }) => back({ store: true }, robot, random()) },
    {
      name: "database and store set back",
      weight: 4,
      strike: ({ robot, random }) => back({ database: true, store: true }, robot, random()),
    },
    {
      name: "database set back and an object lost",
      weight: 4,
      strike: ({ robot, random }) => bed.setBackWithoutObject(robot, random()),
    },
  ];
}

/** Nothing arrives and neither side is informed, as when a robot drives into a tunnel. */
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

/** The link is slow, and is cut again and again: only pieces of a part arrive. */
async function wearLink({ bed: { proxy } }: Struck): Promise<void> {
  proxy.throttle(WORN_BYTES_PER_SECOND);
  for (let cut = 0; cut < 3; cut++) {
    await delay(LONGEST_PAUSE_MS);
    proxy.cut();
  }
  proxy.throttle(Number.POSITIVE_INFINITY);
}

/** The clock is set wrong by a year, and right again afterwards. */
async function setClock({ robot }: Struck): Promise<void> {
  for (const shiftMs of [YEAR_MS, 0, -YEAR_MS]) {
    await robot.setClock(shiftMs);
    await delay(DEAD_MS);
  }
}
