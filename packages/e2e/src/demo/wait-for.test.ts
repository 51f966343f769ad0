import assert from "node:assert/strict";
import { test } from "node:test";
import type { Program } from "../processes/program.ts";
import { DemoError } from "./demo-error.ts";
import { awaitStart, waitWhileRunning } from "./wait-for.ts";

function program(ended: Promise<number>): Program {
  return { ended, output: () => "no room on the disk" } as Program;
}

const living = program(new Promise(() => {}));

test("the demo waits until the answer is there", async () => {
  let asked = 0;
  const wanted = { isWanted: (count: number) => count === 3, describe: String };
  assert.equal(await waitWhileRunning({ "the agent": living })(async () => ++asked, wanted), 3);
});

test("it ends with what a program printed once that has ended, also if its end is why a call fails", async () => {
  const { promise: ended, resolve: end } = Promise.withResolvers<number>();
  const wait = waitWhileRunning({ "the control plane": living, "the agent": program(ended) });
  const isEnd = (error: Error) =>
    error instanceof DemoError && error.message === "the agent ended with 3:\nno room on the disk";
  const call = async () => {
    end(3);
    throw new Error("connect ECONNREFUSED");
  };
  await assert.rejects(wait(call, { isWanted: () => false, describe: String }), isEnd);
  await assert.rejects(
    wait(async () => 1, { isWanted: () => false, describe: String }),
    isEnd,
  );
});

test("a call that fails while the programs live is no silence", async () => {
  const call = () => Promise.reject(new Error("NotFound"));
  const wait = waitWhileRunning({ "the agent": living });
  await assert.rejects(wait(call, { isWanted: () => true, describe: String }), /NotFound/);
});

test("a program that does not start ends the demo in a sentence with its output", async () => {
  const start = Promise.reject(new Error("it ended before it printed X"));
  await assert.rejects(awaitStart("the site", start), {
    name: "DemoError",
    message: "the site does not start: it ended before it printed X",
  });
});
