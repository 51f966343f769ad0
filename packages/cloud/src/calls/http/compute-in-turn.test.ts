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

test("after a computation other work is done, and the next one waits for the rest", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const done: string[] = [];
  const compute = (name: string) => computeInTurn(c, callerOf("a"), () => void done.push(name));
  const computations = [compute("first"), compute("second")];
  for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
  done.push("other work");
  t.mock.timers.runAll();
  await Promise.all(computations);
  t.mock.timers.runAll();
  assert.deepEqual(done, ["first", "other work", "second"]);
});

test("a computation that fails leaves its turn to the next one", async () => {
  const fail = () => {
    throw new Error("not JSON");
  };
  await assert.rejects(computeInTurn(c, callerOf("a"), fail), /not JSON/);
  assert.equal(await computeInTurn(c, callerOf("a"), () => 1), 1);
});
