import { setTimeout as delay } from "node:timers/promises";

const PATIENCE_MS = 150_000;
const PAUSE_MS = 50;

/** Asks again until the answer is the expected one; after too long a time it fails with the last answer. */
export async function eventually<T>(
  ask: () => Promise<T>,
  isWanted: (answer: T) => boolean,
  patienceMs = PATIENCE_MS,
): Promise<T> {
  const deadlineMs = performance.now() + patienceMs;
  for (;;) {
    const answer = await ask();
    if (isWanted(answer)) return answer;
    if (performance.now() > deadlineMs) throw new Error(`it did not come about; the last answer: ${toText(answer)}`);
    await delay(PAUSE_MS);
  }
}

function toText(answer: unknown): string {
  return JSON.stringify(answer, (_key, value) => (typeof value === "bigint" ? String(value) : value), 1);
}
