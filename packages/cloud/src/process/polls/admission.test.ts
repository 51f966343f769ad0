import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as untilIdle } from "node:timers/promises";
import { slowTest } from "@downlink/recordings/testing";
import { ApiError } from "../../core/errors.ts";
import { Admission } from "./admission.ts";

/** A clock that moves only from one wait to the next. */
class VirtualTime {
  nowMs = 0;
  #waits: { atMs: number; end: () => void }[] = [];

  wait(ms: number): Promise<void> {
    return new Promise((end) => this.#waits.push({ atMs: this.nowMs + ms, end }));
  }

  async run(): Promise<void> {
    for (await untilIdle(); this.#waits.length > 0; await untilIdle()) {
      this.#waits.sort((a, b) => a.atMs - b.atMs);
      const { atMs } = this.#waits[0]!;
      this.nowMs = Math.max(this.nowMs, atMs);
      for (const { end } of this.#waits.splice(0, this.#waits.findLastIndex((one) => one.atMs <= atMs) + 1)) end();
    }
  }
}

const WORK_MS = 40;
const AT_ONCE = 4;

interface Agent {
  readonly owner: string;
  readonly comesAtMs: number;
  /** How long the agent waits when it was asked to wait so many seconds, for the n-th time. */
  readonly waitMs: (advisedSeconds: number, attempt: number) => number;
}

/** Returns when each agent was served, and how often it was asked to come back. */
async function serveAll(agents: readonly Agent[]) {
  const time = new VirtualTime();
  const admission = new Admission(() => time.nowMs);
  const seen = { running: 0, most: 0 };
  const work = async () => {
    seen.most = Math.max(seen.most, ++seen.running);
    await time.wait(WORK_MS);
    seen.running -= 1;
  };
  const come = async ({ owner, comesAtMs, waitMs }: Agent) => {
    await time.wait(comesAtMs);
    for (let attempt = 1; ; attempt++) {
      const refusals = await admission.run(owner, work).catch((error: ApiError) => error);
      if (!(refusals instanceof ApiError)) return { servedAtMs: time.nowMs, refusals: attempt - 1 };
      assert.equal(refusals.code, "Unavailable");
      await time.wait(waitMs(refusals.retryAfterSeconds!, attempt));
    }
  };
  const all = Promise.all(agents.map(come));
  await time.run();
  return { served: await all, most: seen.most };
}

/** Waits as agents do: for the advised time, and full jitter on top of it. */
const obeys: Agent["waitMs"] = (advisedSeconds, attempt) => advisedSeconds * 1000 + Math.random() * 1000 * 2 ** attempt;

function storm(count: number, waitMs = obeys): Agent[] {
  return Array.from({ length: count }, (_, n) => ({ owner: `dev_${n}`, comesAtMs: Math.random() * 1000, waitMs }));
}

slowTest(
  "a storm is served at the rate that the server can take, and nobody is asked to come back more than a few times",
  async () => {
    const { served, most } = await serveAll(storm(3000));
    assert.equal(most, AT_ONCE);
    const lastMs = Math.max(...served.map(({ servedAtMs }) => servedAtMs));
    const idealMs = (3000 * WORK_MS) / AT_ONCE;
    assert.ok(lastMs < 2 * idealMs, `it took ${lastMs} ms, without a pause it would take ${idealMs}`);
    assert.ok(Math.max(...served.map(({ refusals }) => refusals)) <= 5);
  },
);

test("a few agents are served at once", async () => {
  const { served } = await serveAll(storm(100));
  assert.ok(served.every(({ refusals }) => refusals === 0));
});

slowTest("an agent that does not wait as advised is not served before those that do", async () => {
  const [obedient, hasty] = [
    storm(1500),
    storm(100, () => 200).map((one) => ({ ...one, owner: `hasty_${one.owner}` })),
  ];
  const { served } = await serveAll([...obedient, ...hasty]);
  const meanOf = (some: typeof served) => some.reduce((sum, { servedAtMs }) => sum + servedAtMs, 0) / some.length;
  const [theirs, hastyOnes] = [meanOf(served.slice(0, 1500)), meanOf(served.slice(1500))];
  assert.ok(hastyOnes > 0.7 * theirs, `served at ${hastyOnes} ms on average, the others at ${theirs}`);
});

slowTest("an agent that comes for the first time goes behind those that were asked to come back", async () => {
  const late = { owner: "late", comesAtMs: 2000, waitMs: obeys };
  const { served } = await serveAll([...storm(2000), late]);
  const before = served.slice(0, 2000).filter(({ servedAtMs }) => servedAtMs < served[2000]!.servedAtMs).length;
  assert.ok(before > 1000, `${before} of 2000 were served before it`);
});

test("a failure is passed on unchanged, and gives its place to the next one", async () => {
  const admission = new Admission();
  const fails = () => Promise.reject(new Error("no"));
  for (let n = 0; n < 3 * AT_ONCE; n++) await assert.rejects(admission.run("dev", fails), /^Error: no$/);
  assert.equal(await admission.run("dev", async () => "served"), "served");
});
