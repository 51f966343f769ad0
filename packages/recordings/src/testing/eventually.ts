import { setTimeout as delay } from "node:timers/promises";

/** Only a failure ever takes as long. */
const PATIENCE_MS = 150_000;
const LONGEST_PAUSE_MS = 25;

/** Asks again, ever less often, until the answer is the expected one; after too long a time it fails with the last answer. */
export async function eventually<T>(
  ask: () => T | Promise<T>,
  isWanted: (answer: T) => boolean,
  patienceMs = PATIENCE_MS,
): Promise<T> {
  const deadlineMs = performance.now() + patienceMs;
  for (let pauseMs = 1; ; pauseMs += 1) {
    const answer = await ask();
    if (isWanted(answer)) return answer;
    if (performance.now() > deadlineMs) throw new Error(`it did not come about; the last answer: ${toText(answer)}`);
    await delay(Math.min(pauseMs, LONGEST_PAUSE_MS));
  }
}

function toText(answer: unknown): string {
  return JSON.stringify(answer, (_key, value) => (typeof value === "bigint" ? String(value) : value), 1);
}
