import { setTimeout as delay } from "node:timers/promises";
import { eventually } from "@downlink/recordings/testing";
import type { ControlPlane } from "../../processes/control-plane.ts";
import type { ExternalPostgres } from "../../processes/external-postgres.ts";
import type { Program } from "../../processes/program.ts";

const TURN_MS = 2000;
const CALLERS = 4;
const LONGEST_STATEMENT_MS = 600_000;

interface Turns {
  readonly cloud: ControlPlane;
  readonly postgres: ExternalPostgres;
  readonly child: Program;
  readonly objects: number;
  /** For so many turns the program runs before it is suspended for one. */
  readonly turnsBeside: number;
}

interface Times {
  /** How long the program ran, without the time for which it was suspended. */
  readonly seconds: number;
  /** How long each call took in ms: beside the running program, and without it. */
  readonly beside: readonly number[];
  readonly without: readonly number[];
}

/** Calls the API until the program ends, which is suspended by turns. */
export async function timeInTurns({ cloud, postgres, child, objects, turnsBeside }: Turns): Promise<Times> {
  const [beside, without]: [number[], number[]] = [[], []];
  let ended = false;
  void child.ended.then(() => {
    ended = true;
  });
  const calls = { cloud, objects, isOver: () => ended };
  let suspendedMs = 0;
  const startedMs = performance.now();
  while (!ended) {
    for (let turn = 0; turn < turnsBeside && !ended; turn++) beside.push(...(await call(calls)));
    if (ended) break;
    const fromMs = performance.now();
    process.kill(child.pid, "SIGSTOP");
    await untilIdle(postgres);
    without.push(...(await call(calls)));
    process.kill(child.pid, "SIGCONT");
    suspendedMs += performance.now() - fromMs;
  }
  return { seconds: (performance.now() - startedMs - suspendedMs) / 1000, beside, without };
}

/** A statement that was under way goes on while its program is suspended. */
async function untilIdle({ query }: ExternalPostgres): Promise<void> {
  const sql = `SELECT count(*)::int AS busy FROM pg_stat_activity
    WHERE state = 'active' AND pid <> pg_backend_pid() AND backend_type = 'client backend'`;
  await eventually(
    async () => (await query<{ busy: number }>(sql))[0]!.busy,
    (busy) => busy === 0,
    LONGEST_STATEMENT_MS,
  );
}

interface Calls {
  readonly cloud: ControlPlane;
  readonly objects: number;
  readonly isOver: () => boolean;
}

/** Reads recordings by id and a page of them, by turns, and returns what each call took. */
async function call({ cloud, objects, isOver }: Calls): Promise<number[]> {
  const timesMs: number[] = [];
  const untilMs = performance.now() + TURN_MS;
  const headers = { authorization: `Bearer ${cloud.adminKey}` };
  const caller = async () => {
    for (let turn = 0; performance.now() < untilMs && !isOver(); turn++) {
      const fromMs = performance.now();
      const number = 1 + Math.floor(Math.random() * (objects - 1));
      const target = turn % 4 === 0 ? "?limit=50" : `/rec_${String(number).padStart(26, "0")}`;
      const answer = await fetch(`${cloud.url}/v1/recordings${target}`, { headers });
      await answer.arrayBuffer();
      if (answer.status >= 500) throw new Error(`GET /v1/recordings${target} answered ${answer.status}`);
      timesMs.push(performance.now() - fromMs);
      await delay(1);
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  return timesMs;
}
