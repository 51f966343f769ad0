import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { startControlPlane } from "../processes/control-plane.ts";
import { type RefusalError, type RefusingFront, startRefusingFront } from "../processes/refusing-front.ts";
import type { Surroundings } from "./fault-bed.ts";
import { keepRunning } from "./keep-running.ts";
import { liveThrough, makeRobot } from "./robot.ts";

/** The refusals for the first calls of each kind, one after the other; the kinds begin with different ones. */
const refusals: readonly (readonly RefusalError[])[] = [
  [{ status: 503 }, { status: 429, retryAfterSeconds: 1 }],
  [{ status: 500 }, { status: 503, retryAfterSeconds: 1 }],
];

test("429, 500 and 503 at every kind of call delay an agent and lose nothing; it never calls again before Retry-After", async (t) => {
  const { surroundings, front } = await startBehindFront(t);
  const waiting = new Map<string, RefusalError[]>();
  const passed = new Set<string>();
  const notBefore = new Map<string, number>();
  const tooEarly: string[] = [];
  front.refuse = (method, path) => {
    const kind = `${method} ${kindOf(path)}`;
    // Each part of an upload asks for its grant independently.
    if (performance.now() < (notBefore.get(path) ?? 0) && !kind.endsWith("grants")) tooEarly.push(path);
    if (!waiting.has(kind)) waiting.set(kind, [...refusals[waiting.size % refusals.length]!]);
    const refusal = waiting.get(kind)?.shift();
    if (refusal?.retryAfterSeconds) notBefore.set(path, performance.now() + refusal.retryAfterSeconds * 1000);
    if (!refusal) passed.add(kind);
    return refusal;
  };
  await using robot = await makeRobot(surroundings);
  await using agent = keepRunning(robot.agentOptions);
  await Promise.race([liveThrough(surroundings, robot), agent.fell]);
  await agent.stop();
  assert.deepEqual(tooEarly, []);
  assert.ok(passed.size >= 7, `only ${[...passed].join(", ")} came through in the end`);
});

/** Returns the path without the parts that differ each time. */
function kindOf(path: string): string {
  return path.replace(/\?.*/, "").replace(/(imports|upload|objects|parts)\/[^/]+/g, "$1/…");
}

async function startBehindFront(t: TestContext): Promise<{ surroundings: Surroundings; front: RefusingFront }> {
  const stack = new AsyncDisposableStack();
  t.after(() => stack.disposeAsync());
  const folder = await mkdtemp(join(tmpdir(), "downlink-refusals-"));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  let cloudUrl = "";
  const front = stack.use(await startRefusingFront(() => cloudUrl));
  const env = { DOWNLINK_PUBLIC_URL: front.url };
  const cloud = stack.use(await startControlPlane({ dataDir: join(folder, "cloud"), env }));
  cloudUrl = cloud.url;
  return { surroundings: { folder, url: front.url, admin: cloud.admin }, front };
}
