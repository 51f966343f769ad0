import { setTimeout as delay } from "node:timers/promises";
import type { Acknowledged } from "./clients.ts";
import { assertInvariants, type LongestWaits } from "./invariants.ts";
import { type KillBed, type KillBedOptions, openKillBed } from "./kill-bed.ts";
import { underLoad } from "./load.ts";
import { drawStrike } from "./strikes.ts";
import { createTally, type Tally } from "./tally.ts";

interface Options extends KillBedOptions {
  readonly kills: number;
  /** Returns a number in [0, 1). */
  readonly random: () => number;
  /** Ends it before its time, with everything that it started. */
  readonly signal?: AbortSignal;
}

export interface Survival extends Pick<Tally, "kills" | "clients"> {
  /** The invariants that did not hold. */
  readonly failures: readonly string[];
  /** All failed requests, also those that may fail. */
  readonly failed: readonly string[];
  readonly files: number;
  readonly uploads: number;
  /** Undefined where something did not hold. */
  readonly longestWaits: LongestWaits | undefined;
}

const LONGEST_PAUSE_MS = 1500;

/** Kills processes one after the other while agents and clients work, and checks the invariants at the end. */
export async function surviveKills({ kills, random, signal, ...options }: Options): Promise<Survival> {
  await using bed = await openKillBed(options);
  const tally = createTally();
  const acknowledged: Acknowledged = { uploads: new Map(), events: new Map() };
  const failures: string[] = [];
  let longestWaits: LongestWaits | undefined;
  try {
    await underLoad(bed, { tally, acknowledged }, () => strikeAll(bed, { kills, random, tally, signal }));
    longestWaits = await assertInvariants(bed, acknowledged);
    for (const { agent } of bed.robots) await agent.stop();
  } catch (error) {
    failures.push((error as Error).stack ?? String(error));
  }
  return {
    ...{ kills: tally.kills, clients: tally.clients, uploads: acknowledged.uploads.size },
    failures: [...failures, ...bed.set.falls, ...tally.excesses(), ...(await findUnasked(bed))],
    failed: tally.failures(),
    files: bed.robots.reduce((sum, { files }) => sum + files.size, 0),
    longestWaits,
  };
}

interface Strikes extends Omit<Options, "isInBucket" | "signal"> {
  readonly tally: Tally;
  readonly signal: AbortSignal | undefined;
}

async function strikeAll(bed: KillBed, { kills, random, tally, signal }: Strikes): Promise<void> {
  for (let kill = 0; kill < kills; kill++) {
    await delay(random() * LONGEST_PAUSE_MS);
    signal?.throwIfAborted();
    const { name, isGentle, strike } = drawStrike(bed, random);
    tally.nextKill(name, isGentle);
    await strike();
  }
  await bed.thawed();
}

/** nginx must ask a process that lives, whatever happened before. */
async function findUnasked({ set }: KillBed): Promise<string[]> {
  const count = (await set.nginx.logged()).split("no live upstreams").length - 1;
  return count === 0 ? [] : [`nginx asked no process ${count} times`];
}
