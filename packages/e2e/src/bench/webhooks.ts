// How fast events reach webhooks, and what dead receivers cost the others:
//
//   npm run bench:webhooks [-- --events 100] [--rounds 3]
//
// It runs on a control plane and a database of its own, which are removed at the end. Five of 20 receivers are dead: rounds in which these
// are disabled and rounds beside them take turns in one run. It never fails for a time.

import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { startWebhookLoad, type WebhookRound } from "@downlink/cloud/testing";
import { api } from "@downlink/protocol";
import { makeTable } from "../terminal/make-table.ts";
import { say } from "./report.ts";

const WELL = 15;

const { values } = parseArgs({
  options: { events: { type: "string", default: "100" }, rounds: { type: "string", default: "3" } },
});
const [events, rounds] = [Number(values.events), Number(values.rounds)];
for (const [name, count] of Object.entries({ events, rounds }))
  if (!(Number.isInteger(count) && count > 0)) throw new RangeError(`--${name} must be a whole number above 0`);
await runBenchmark();

async function runBenchmark(): Promise<void> {
  await using closing = new AsyncDisposableStack();
  const { admin, registerDead, send } = await startWebhookLoad({ after: (close) => closing.defer(close) }, WELL);
  const dead = await registerDead();
  const enableDead = async (enabled: boolean) => {
    for (const id of dead) await admin.call(api.webhooks.update, { id, enabled });
  };
  await enableDead(false);
  await send("warm", events);
  const [without, beside]: [Figures[], Figures[]] = [[], []];
  for (let round = 1; round <= rounds; round++) {
    without.push(figuresOf(await send(`without${round}`, events)));
    await enableDead(true);
    beside.push(figuresOf(await send(`beside${round}`, events)));
    await enableDead(false);
  }
  report(without, beside);
}

interface Figures {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
}

function figuresOf({ tookMs, delaysMs }: WebhookRound): Figures {
  const sorted = delaysMs.toSorted((one, other) => one - other);
  const percentile = (share: number) => sorted[Math.ceil(sorted.length * share) - 1]!;
  return { perSecond: (sorted.length * 1000) / tookMs, p50Ms: percentile(0.5), p95Ms: percentile(0.95) };
}

/** Prints the medians of the rounds, and their ratio. */
function report(without: readonly Figures[], beside: readonly Figures[]): void {
  const table = makeTable([`${WELL} receivers that are well`, "without dead ones", "beside 5 dead ones", "ratio"]);
  const rows = {
    "deliveries a second": "perSecond",
    "p50 of the delay, ms": "p50Ms",
    "p95 of the delay, ms": "p95Ms",
  } as const;
  for (const [name, figure] of Object.entries(rows)) {
    const [quiet, busy] = [without, beside].map((all) => medianOf(all.map((one) => one[figure])));
    table.push([name, quiet!.toFixed(0), busy!.toFixed(0), (busy! / quiet!).toFixed(2)]);
  }
  say(table.toString());
  say(`${rounds} rounds of ${events} events written at once; on ${cpus().length} × ${cpus()[0]?.model}`);
}

function medianOf(figures: readonly number[]): number {
  return figures.toSorted((one, other) => one - other)[figures.length >> 1]!;
}
