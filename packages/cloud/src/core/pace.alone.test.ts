import assert from "node:assert/strict";
import { type Mock, mock, test } from "node:test";
import timers from "node:timers/promises";
import { pacePages } from "./pace.ts";

/** A clock that only the test moves: work and waiting take what they say. */
let nowMs = 0;
let activeMs = 0;
mock.method(performance, "now", () => nowMs);
mock.method(performance, "eventLoopUtilization", (since = { active: 0 }) => ({ active: activeMs - since.active }));
const rest = mock.method(
  timers,
  "setTimeout",
  async (_ms: number, _value: unknown, { signal }: { signal?: AbortSignal }) => signal?.throwIfAborted(),
) as Mock<typeof timers.setTimeout>;

function work(ms: number): void {
  nowMs += ms;
  activeMs += ms;
}

/** Yields pages; for each the process computes for so long, after it has waited for a second. */
async function* pagesOf(readingMs: readonly number[]): AsyncGenerator<number> {
  for (const [at, ms] of readingMs.entries()) {
    nowMs += 1000;
    work(ms);
    yield at;
  }
}

async function restsOf(readingMs: readonly number[], workedMs: number): Promise<unknown[]> {
  rest.mock.resetCalls();
  for await (const _ of pacePages(pagesOf(readingMs))) work(workedMs);
  return rest.mock.calls.map(({ arguments: [ms] }) => ms);
}

test("between two pages it rests for six times as long as it worked, and does not count waiting for a page", async () => {
  assert.deepEqual(await restsOf([1, 2, 3], 10), [72, 78]);
});

test("it rests for a second at most, and never for a single page", async () => {
  assert.deepEqual(await restsOf([1, 1], 500), [1000]);
  assert.deepEqual(await restsOf([1], 500), []);
});

test("a process that stops does not wait for the rest", async () => {
  const stopping = new AbortController();
  const pages: number[] = [];
  const walk = async () => {
    for await (const page of pacePages(pagesOf([1, 1]), stopping.signal)) {
      pages.push(page);
      stopping.abort(new Error("stop"));
    }
  };
  await assert.rejects(walk(), { message: "stop" });
  assert.deepEqual(pages, [0]);
});
