import type { KillBed } from "./kill-bed.ts";

/** Resolves when the struck process is back, unless it is suspended beside others. */
type Strike = (bed: KillBed, random: () => number) => Promise<void>;

interface Weighted {
  readonly name: string;
  readonly weight: number;
  readonly strike: Strike;
  /** No client may see a failed request of it. */
  readonly isGentle?: boolean;
}

/** The strikes, and how often each of them happens in relation to the others. */
const strikes: readonly Weighted[] = [
  { name: "API killed", weight: 5, strike: ({ set }, random) => any(set.servers, random).restart("SIGKILL") },
  {
    name: "API stopped",
    weight: 3,
    strike: ({ set }, random) => any(set.servers, random).restart("SIGTERM"),
    isGentle: true,
  },
  { name: "API frozen", weight: 2, strike: ({ set }, random) => any(set.servers, random).freeze(random() * 4000) },
  { name: "worker killed", weight: 4, strike: ({ set }, random) => any(set.workers, random).restart("SIGKILL") },
  {
    name: "worker stopped",
    weight: 2,
    strike: ({ set }, random) => any(set.workers, random).restart("SIGTERM"),
    isGentle: true,
  },
  { name: "worker frozen", weight: 2, strike: freezeWorker },
  { name: "Postgres killed", weight: 1, strike: ({ set }) => set.postgres.restart("SIGKILL") },
  { name: "Postgres restarted", weight: 1, strike: ({ set }) => set.postgres.restart("SIGINT") },
  { name: "nginx reloaded", weight: 1, strike: async ({ set }) => set.nginx.reload() },
  { name: "agent killed", weight: 2, strike: ({ robots }, random) => any(robots, random).agent.kill("SIGKILL") },
];
const bucketStrikes: typeof strikes = [
  { name: "gateway of the bucket killed", weight: 2, strike: async ({ bucket }) => bucket!.restartGateway() },
];

/** This is longer than it takes until its jobs are taken over, so that they belong to another process when it continues. */
const LONGEST_WORKER_FREEZE_MS = 40_000;

/** Draws a strike, and returns it with how to begin it. */
export function drawStrike(bed: KillBed, random: () => number) {
  const all = bed.bucket ? [...strikes, ...bucketStrikes] : strikes;
  const drawn = all.flatMap((each) => Array.from({ length: each.weight }, () => each));
  const { strike, ...rest } = any(drawn, random);
  return { ...rest, strike: () => strike(bed, random) };
}

/** While it is suspended, others are struck. One of them always works. */
async function freezeWorker(bed: KillBed, random: () => number): Promise<void> {
  const worker = any(bed.set.workers, random);
  if (bed.isAnyFrozen()) await worker.restart("SIGKILL");
  else bed.freezeBeside(worker, random() * LONGEST_WORKER_FREEZE_MS);
}

function any<T>(all: readonly T[], random: () => number): T {
  return all[Math.floor(random() * all.length)]!;
}
