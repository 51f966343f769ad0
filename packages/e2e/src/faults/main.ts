// Kills an agent at every durable step and breaks everything else at random instants, and checks the invariants after each life:
//
// npm run faults [-- --kills 1000] [--seed 1] [--no-points] [--restored 0.1] [--first "store set back"]
//
// Ends by itself with a table; exits 1 if an invariant did not hold.

import { parseArgs } from "node:util";
import { seededRandom } from "@downlink/recordings/testing";
import { makeTable } from "../terminal/make-table.ts";
import { crashAt, listCrashPoints } from "./crash-points.ts";
import { type FaultBed, openFaultBed } from "./fault-bed.ts";
import { surviveFaults, surviveRestores } from "./random-faults.ts";

const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "1000" },
    seed: { type: "string", default: "1" },
    points: { type: "boolean", default: true },
    /** The share of lives in which the database and the object store are set back. */
    restored: { type: "string", default: "0.1" },
    /** The fault with which each such life begins; without it, all are drawn. */
    first: { type: "string" },
  },
  allowNegative: true,
});
/** The number of lives at the same time. */
const PARALLEL = 2;
const restored = Number(values.restored);
/** A life without faults has at least this many points: fewer means that steps are not announced any more. */
const FEWEST_POINTS = 80;

const interrupted = Promise.withResolvers<void>();
process.once("SIGINT", stop).once("SIGTERM", stop);

const counts = new Map<string, number>();
const failures: string[] = [];
const startedMs = performance.now();
{
  await using bed = await openFaultBed();
  await Promise.race([liveAll(bed), interrupted.promise]);
}
printTable();
process.exit(failures.length === 0 ? 0 : 1); // lives that were interrupted still wait for something

async function liveAll(bed: FaultBed): Promise<void> {
  if (values.points) await crashEverywhere(bed);
  await strikeAtRandom(bed, Number(values.kills));
}

async function crashEverywhere(bed: FaultBed): Promise<void> {
  const points = await listCrashPoints(bed);
  say(`${points.length} crash points`);
  if (points.length < FEWEST_POINTS) failures.push(`only ${points.length} durable steps were reported`);
  const tryOne = async (point: string) => {
    const crash = await crashAt(bed, point);
    count(`crash point: ${crash}`);
    if (crash === "not reached") say(`not reached: ${point}`);
  };
  await inParallel(points.values(), tryOne);
}

async function strikeAtRandom(bed: FaultBed, wanted: number): Promise<void> {
  const random = seededRandom(Number(values.seed));
  let struck = 0;
  function* lives(): Generator<number> {
    for (let life = 0; struck < wanted; life += 1) yield life;
  }
  await inParallel(lives(), async () => {
    const isRestored = random() < restored;
    const { faults } = isRestored ? await surviveRestores(random, values.first) : await surviveFaults(bed, random);
    for (const fault of faults) count(fault);
    struck += faults.length;
    count(isRestored ? "life with random faults and restores" : "life with random faults");
  });
}

async function inParallel<T>(tasks: Iterator<T>, work: (task: T) => Promise<void>): Promise<void> {
  const worker = async () => {
    for (let next = tasks.next(); !next.done && failures.length === 0; next = tasks.next()) {
      await work(next.value).catch((error: unknown) => {
        failures.push((error as Error).stack ?? String(error));
      });
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, worker));
}

/** The control plane is ended, and the folders are removed; the agents of the running lives end because their starter is gone. */
function stop(): void {
  failures.push("it was interrupted");
  interrupted.resolve();
}

function count(what: string): void {
  counts.set(what, (counts.get(what) ?? 0) + 1);
}

function printTable(): void {
  const table = makeTable(["what", "times"]);
  for (const [what, times] of [...counts].sort()) table.push([what, times]);
  say(table.toString());
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(0);
  if (failures.length === 0) say(`every invariant held after every life; ${seconds} s, seed ${values.seed}`);
  for (const failure of failures) say(`an invariant did not hold, ${failure}`);
}

function say(text: string): void {
  console.log(text);
}
