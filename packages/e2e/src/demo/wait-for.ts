import { setTimeout as delay } from "node:timers/promises";
import type { Program } from "../processes/program.ts";
import { DemoError } from "./demo-error.ts";
import { say } from "./say.ts";

const PAUSE_MS = 50;
/** A machine that is quick enough shows none of the states in between. */
const SAY_MS = 5000;

interface Wanted<T> {
  isWanted(answer: T): boolean;
  /** Says how far it is, after "waiting: ". */
  describe(answer: T): string;
}

/** Asks until the answer is the wanted one. */
export type WaitFor = <T>(ask: () => Promise<T>, wanted: Wanted<T>) => Promise<T>;

/**
 * Creates what waits for as long as these programs live, however slow the machine is, and says every five seconds how far it is. It throws a
 * {@link DemoError} with the output of a program that has ended.
 */
export function waitWhileRunning(programs: Readonly<Record<string, Program>>): WaitFor {
  const ends: string[] = [];
  for (const [name, program] of Object.entries(programs))
    void program.ended.then((code) => ends.push(`${name} ended with ${code}:\n${program.output()}`));
  const requireRunning = () => {
    if (ends[0] !== undefined) throw new DemoError(ends[0]);
  };
  return async (ask, { isWanted, describe }) => {
    const startedMs = performance.now();
    for (let saidMs = startedMs; ; ) {
      requireRunning();
      const answer = await ask().catch(async (error: unknown) => {
        await delay(PAUSE_MS); // the end of a program is noticed a little later than that it does not answer
        requireRunning();
        throw error;
      });
      if (isWanted(answer)) return answer;
      const nowMs = performance.now();
      if (nowMs - saidMs > SAY_MS) {
        say(`waiting: ${describe(answer)} (${Math.round((nowMs - startedMs) / 1000)} s)`);
        saidMs = nowMs;
      }
      await delay(PAUSE_MS);
    }
  };
}

/** Says every five seconds that the start goes on. Throws a {@link DemoError} if it fails. */
export async function awaitStart<T>(name: string, start: Promise<T>): Promise<T> {
  const startedMs = performance.now();
  const ticker = setInterval(() => {
    say(`waiting: ${name} starts (${Math.round((performance.now() - startedMs) / 1000)} s)`);
  }, SAY_MS);
  try {
    return await start;
  } catch (error) {
    throw new DemoError(`${name} does not start: ${(error as Error).message}`);
  } finally {
    clearInterval(ticker);
  }
}
