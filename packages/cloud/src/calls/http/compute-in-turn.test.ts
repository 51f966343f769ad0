import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { test } from "node:test";
import type { Context } from "hono";
import { createTurns, turnLimits } from "../../process/limits/turns.ts";
import type { Ctx } from "../context/context.ts";
import { computeInTurn } from "./compute-in-turn.ts";
import type { Env } from "./env.ts";

const c = { env: { outgoing: new EventEmitter() } } as unknown as Context<Env>;
const turns = createTurns(turnLimits);

const callerOf = (orgId: string) => ({ turns, caller: { kind: "apiKey", orgId, id: orgId } }) as unknown as Ctx;

/** Holds the processor for so long that a rest after it lasts for some turns of the event loop. */
function compute(): void {
  const beganMs = performance.now();
  while (performance.now() - beganMs < 5);
}

test("between two computations other work is done", async () => {
  const done: string[] = [];
  const computations = ["first", "second"].map((name) =>
    computeInTurn(c, callerOf("a"), () => {
      compute();
      done.push(name);
    }),
  );
  setImmediate(() => done.push("other work"));
  await Promise.all(computations);
  assert.deepEqual(done, ["first", "other work", "second"]);
});

test("a computation that fails leaves its turn to the next one", async () => {
  const fail = () => {
    throw new Error("not JSON");
  };
  await assert.rejects(computeInTurn(c, callerOf("a"), fail), /not JSON/);
  assert.equal(await computeInTurn(c, callerOf("a"), () => 1), 1);
});
